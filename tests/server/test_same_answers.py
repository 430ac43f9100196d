"""The editor and the command line say the same of the same text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from llm_lsp.cli import main
from llm_lsp.server.checking import Checker
from llm_lsp.server.documents import Document
from llm_lsp.server.reports import SOURCE
from tests.server.desk import PULLING, Desk, at_desk, text_item
from tests.server.opening import change_text, open_text
from tests.server.programs import FAULTY

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (ROOT / "tests" / "cases", ROOT / "examples")

_SEVERITIES = {"error": 1, "warning": 2, "information": 3}
CODE_POINTS = types.PositionEncodingKind.Utf32.value


def programs(folder: Path) -> Iterator[Path]:
    yield from sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".ipynb"))


def of_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[Path, list[dict[str, Any]]]:
    capsys.readouterr()
    assert main(["check", "--output-format", "json", str(folder)]) in (0, 1)
    found: dict[Path, list[dict[str, Any]]] = {}
    for each in json.loads(capsys.readouterr().out):
        found.setdefault(Path(each["filename"]).absolute(), []).append(
            {
                "code": each["code"],
                "severity": _SEVERITIES[each["severity"]],
                "message": each["message"],
                "place": place(each),
                "related": [[one["message"], place(one)] for one in each["related"]],
                "fix": None
                if each["fix"] is None
                else [each["fix"]["message"], [[place(one), one["content"]] for one in each["fix"]["edits"]]],
            }
        )
    return found


def place(located: dict[str, Any]) -> list[int]:
    start, end = located["location"], located["end_location"]
    return [located["cell"] or 0, start["row"] - 1, start["column"] - 1, end["row"] - 1, end["column"] - 1]


def of_editor(document: Document, shown: list[tuple[str, types.Diagnostic]]) -> list[dict[str, Any]]:
    cells = {text.uri: number for number in range(1, 200) if (text := document.text_at(number)) is not None}
    is_notebook = document.texts[:1] != (document,)

    def where(uri: str, range_: Any) -> list[int]:  # noqa: ANN401 (the protocol's, or its JSON)
        cell = cells[uri] if is_notebook else 0
        if isinstance(range_, types.Range):
            return [cell, range_.start.line, range_.start.character, range_.end.line, range_.end.character]
        start, end = range_["start"], range_["end"]
        return [cell, start["line"], start["character"], end["line"], end["character"]]

    found: list[dict[str, Any]] = []
    for uri, each in shown:
        fix = each.data.get("fix") if each.data else None
        found.append(
            {
                "code": each.code,
                "severity": each.severity.value if each.severity else None,
                "message": each.message.partition("\nhelp: ")[0],
                "place": where(uri, each.range),
                "related": [
                    [one.message, where(one.location.uri, one.location.range)] for one in each.related_information or ()
                ],
                "fix": None
                if fix is None
                else [
                    fix["title"],
                    [
                        [where(one["uri"], edit["range"]), edit["newText"]]
                        for one in fix["edits"]
                        for edit in one["edits"]
                    ],
                ],
            }
        )
        assert each.source == SOURCE
    return found


def notebook_params(path: Path) -> types.DidOpenNotebookDocumentParams:
    """A notebook as an editor sends it: only the texts of code cells."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    cells: list[types.NotebookCell] = []
    texts: list[types.TextDocumentItem] = []
    for number, cell in enumerate(content["cells"]):
        uri = f"vscode-notebook-cell:{path.as_posix()}#C{number}"
        is_code = cell["cell_type"] == "code"
        kind = types.NotebookCellKind.Code if is_code else types.NotebookCellKind.Markup
        count = cell.get("execution_count")
        summary = types.ExecutionSummary(count) if isinstance(count, int) else None
        metadata: Any = {"metadata": cell.get("metadata", {})}
        cells.append(types.NotebookCell(kind, uri, metadata, summary))
        if is_code:
            texts.append(types.TextDocumentItem(uri, types.LanguageKind.Python, 1, "".join(cell["source"])))
    return types.DidOpenNotebookDocumentParams(
        types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells), texts
    )


def read(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


async def shown_in_editor(desk: Desk, path: Path) -> list[dict[str, Any]]:
    documents = desk.session.documents
    written = read(path)
    if path.suffix == ".ipynb":
        params = notebook_params(path)
        document: Document = documents.open_notebook(params.notebook_document, params.cell_text_documents)
    else:
        document = documents.open(text_item(path, written.decode()))
    # While it is open its buffer is what counts: on the disk there is nothing worth reading.
    write(path, b"raise SystemExit\n")
    result = await desk.session.current(document.uri)
    assert result is not None
    write(path, written)
    found = of_editor(document, [(uri, each) for uri, shown in result.reports.items() for each in shown])
    if path.suffix == ".ipynb":
        documents.close_notebook(document.uri)
    else:
        documents.close(document.uri)
    return found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_editor_and_the_command_line_say_the_same(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = tmp_path / folder.name
    shutil.copytree(folder, copied)
    (copied / "setup.cfg").touch()
    monkeypatch.chdir(copied)
    expected = of_command_line(copied, capsys)
    paths = list(programs(copied))

    async def work(desk: Desk) -> dict[Path, list[dict[str, Any]]]:
        return {path: await shown_in_editor(desk, path) for path in paths}

    capabilities = replace(PULLING, encoding=CODE_POINTS)
    found = at_desk(copied, work, capabilities=capabilities)
    assert sum(map(len, found.values())) > 5
    assert {path: shown for path, shown in found.items() if shown} == expected


REAL = {
    "transformers": ("pipelines", "generation", "quantizers", "data", "cli"),
    "torch": ("optim", "amp", "nn/utils", "utils/data", "distributed/optim"),
}
"""Folders of installed packages: more than a hundred modules, which import each other."""


def test_they_say_the_same_of_real_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "setup.cfg").touch()
    for package, folders in REAL.items():
        spec = find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations
        for folder in folders:
            inside = Path(spec.submodule_search_locations[0], folder)
            shutil.copytree(inside, tmp_path / package / folder, ignore=shutil.ignore_patterns("__pycache__"))
    paths = list(programs(tmp_path))
    for path in paths[::2]:
        # There is little to say of them as they are.
        with path.open("a", encoding="utf-8") as file:
            file.write(f"\n\n{FAULTY}")
    monkeypatch.chdir(tmp_path)
    expected = of_command_line(tmp_path, capsys)
    assert sum(map(len, expected.values())) > 50
    assert len(paths) > 100

    async def work(desk: Desk) -> dict[Path, list[dict[str, Any]]]:
        return {path: await shown_in_editor(desk, path) for path in paths}

    found = at_desk(tmp_path, work, capabilities=replace(PULLING, encoding=CODE_POINTS))
    assert {path: shown for path, shown in found.items() if shown} == expected


def test_what_is_typed_key_by_key_is_judged_as_if_it_had_been_opened(tmp_path: Path) -> None:
    """The check of a text starts from the tree of the text before."""
    folder = tmp_path / "support-bot"
    shutil.copytree(ROOT / "examples" / "support-bot", folder)
    path = folder / "support_bot" / "train.py"
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    middle = next(row for row, line in enumerate(lines) if line.startswith("    ")) + 1
    head, tail = "".join(lines[:middle]), "".join(lines[middle:])
    typed = "    if (a := [model('''x''')]):\n        tokenizer.pad_token = 1\n"
    texts = [head + typed[:length] + tail for length in range(len(typed) + 1)]
    texts += [head + tail[length:] for length in range(0, len(tail), 97)]
    texts += [text, *(f"{line}{text}" for line in ("\n", "import torch\n", "class A(nn.Module): pass\n")), text]

    async def work(desk: Desk) -> int:
        uri = open_text(desk, path, text)
        found = 0
        for version, now in enumerate(texts, 2):
            change_text(desk, uri, now, version)
            result = await desk.session.current(uri)
            assert result is not None
            checker = Checker(desk.session.projects, desk.session.capabilities, desk.session.log_crash)
            fresh = await desk.session.in_worker(partial(checker.check, result.document, None, lambda: False))
            assert result.reports == fresh.reports
            assert result.id == fresh.id
            assert result.runs == fresh.runs
            found += len(result.reports[uri])
        return found

    assert at_desk(folder, work) > len(texts)
