"""Notebooks: cells are one module, and each shows its own part of what is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.notifications import did_change_notebook, did_close_notebook, did_open, did_open_notebook
from llm_lsp.server.requests import code_action, code_action_resolve, code_lens, diagnostic
from tests.server.desk import PULLING, PUSHED_TO, Desk, at_desk
from tests.server.opening import codes
from tests.server.wire import PULLS, Wire

pytestmark = pytest.mark.usefixtures("demo_rules")

Code, Markup = types.NotebookCellKind.Code, types.NotebookCellKind.Markup


def cell_uri(name: str) -> str:
    return f"vscode-notebook-cell:/project/n.ipynb#{name}"


def cell(name: str, kind: types.NotebookCellKind = Code, count: int | None = None) -> types.NotebookCell:
    summary = types.ExecutionSummary(count) if count is not None else None
    return types.NotebookCell(kind, cell_uri(name), None, summary)


def text_of(name: str, text: str, version: int = 1) -> types.TextDocumentItem:
    return types.TextDocumentItem(cell_uri(name), types.LanguageKind.Python, version, text)


def open_notebook(desk: Desk, path: Path, texts: dict[str, str | None]) -> str:
    """Open a notebook of cells by name; one without text is Markdown."""
    cells = [cell(name, Markup if text is None else Code) for name, text in texts.items()]
    items = [text_of(name, text) for name, text in texts.items() if text is not None]
    notebook = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
    did_open_notebook.handle(desk.session, types.DidOpenNotebookDocumentParams(notebook, items))
    return path.as_uri()


def change_notebook(desk: Desk, uri: str, version: int, cells: types.NotebookDocumentCellChanges) -> None:
    identifier = types.VersionedNotebookDocumentIdentifier(version, uri)
    change = types.NotebookDocumentChangeEvent(cells=cells)
    did_change_notebook.handle(desk.session, types.DidChangeNotebookDocumentParams(identifier, change))


def structure(
    start: int,
    deleted: int,
    cells: Sequence[types.NotebookCell] = (),
    opened: Sequence[types.TextDocumentItem] = (),
    closed: Sequence[str] = (),
) -> types.NotebookDocumentCellChanges:
    array = types.NotebookCellArrayChange(start, deleted, list(cells))
    gone = [types.TextDocumentIdentifier(cell_uri(name)) for name in closed]
    return types.NotebookDocumentCellChanges(types.NotebookDocumentCellChangeStructure(array, list(opened), gone))


def shown(desk: Desk, name: str) -> list[tuple[object, int]]:
    return [(each.code, each.range.start.line) for each in desk.shown(cell_uri(name))]


TOKENIZER = 'from transformers import AutoTokenizer\ntokenizer = AutoTokenizer.from_pretrained("bert-base-cased")\n'
MODEL = (
    "from transformers import AutoModel\n"
    'model = AutoModel.from_pretrained("bert-base-uncased").eval()\n'
    'print(model(**tokenizer("text", return_tensors="pt")))'
)


@pytest.mark.parametrize("capabilities", [PULLING, PUSHED_TO], ids=["pulling", "pushed to"])
def test_a_fault_between_two_cells_is_shown_in_the_right_one(capabilities: ClientCapabilities, workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        open_notebook(desk, workspace / "n.ipynb", {"a": "%pip install x", "m": None, "b": TOKENIZER, "c": MODEL})
        await desk.settled()
        assert ("LLM101", 1) in shown(desk, "b")
        assert shown(desk, "a") == []
        assert {uri for uri, _, _ in desk.published} == {cell_uri(name) for name in "abc"}

    at_desk(workspace, work, capabilities=capabilities)


def test_a_cell_that_is_pulled_is_answered_empty(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        open_notebook(desk, workspace / "n.ipynb", {"a": "PLAIN = 1\n"})
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(cell_uri("a")))
        assert codes(await diagnostic.handle(desk.session, params)) == []
        await desk.settled()
        assert shown(desk, "a") == [("DEM102", 0)]

    at_desk(workspace, work)


def test_a_cell_without_its_notebook_is_no_program(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        did_open.handle(desk.session, types.DidOpenTextDocumentParams(text_of("a", "PLAIN = 1\n")))
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(cell_uri("a")))
        assert codes(await diagnostic.handle(desk.session, params)) == []

    at_desk(workspace, work)


def test_a_cell_is_edited(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_notebook(desk, workspace / "n.ipynb", {"a": "x = 1\n", "b": "y = 2\n"})
        identifier = types.VersionedTextDocumentIdentifier(version=2, uri=cell_uri("b"))
        at = types.Position(0, 4)
        change = types.TextDocumentContentChangePartial(types.Range(at, types.Position(0, 5)), "PLAIN")
        content = types.NotebookDocumentCellContentChanges(identifier, [change])
        change_notebook(desk, uri, 2, types.NotebookDocumentCellChanges(text_content=[content]))
        await desk.settled()
        assert shown(desk, "b") == [("DEM102", 0)]
        assert shown(desk, "a") == []

    at_desk(workspace, work)


def test_cells_are_moved_and_deleted(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_notebook(desk, workspace / "n.ipynb", {"a": "x = LOUD\n", "b": "y = LOUD\n", "c": "PLAIN = 1\n"})
        await desk.settled()
        assert [each.message for each in desk.shown(cell_uri("b"))[0].related_information or ()] == ["and before"]
        change_notebook(desk, uri, 2, structure(0, 1, closed=["a"]))
        change_notebook(desk, uri, 3, structure(2, 0, [cell("a")], [text_of("a", "x = LOUD\n")]))
        await desk.settled()
        assert not desk.shown(cell_uri("b"))[0].related_information
        related = desk.shown(cell_uri("a"))[0].related_information or ()
        assert [each.location.uri for each in related] == [cell_uri("b")]
        change_notebook(desk, uri, 4, structure(1, 1, closed=["c"]))
        await desk.settled()
        assert shown(desk, "c") == []
        assert (await current_order(desk, uri)) == [cell_uri("b"), cell_uri("a")]

    async def current_order(desk: Desk, uri: str) -> list[str]:
        result = await desk.session.current(uri)
        assert result is not None
        return list(result.reports)

    at_desk(workspace, work)


def test_a_notebook_that_is_closed_shows_nothing(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_notebook(desk, workspace / "n.ipynb", {"a": "PLAIN = 1\n", "b": "LOUD = 1\n"})
        await desk.settled()
        cells = [types.TextDocumentIdentifier(cell_uri(name)) for name in "ab"]
        params = types.DidCloseNotebookDocumentParams(types.NotebookDocumentIdentifier(uri), cells)
        did_close_notebook.handle(desk.session, params)
        await desk.settled()
        assert shown(desk, "a") == shown(desk, "b") == []
        assert desk.session.kept == 0

    at_desk(workspace, work)


async def fix_all(desk: Desk, name: str, only: str) -> list[types.CodeAction]:
    everything = types.Range(types.Position(0, 0), types.Position(9, 0))
    context = types.CodeActionContext([], [only])
    params = types.CodeActionParams(types.TextDocumentIdentifier(cell_uri(name)), everything, context)
    return await code_action.handle(desk.session, params)


def test_all_fixes_of_a_notebook_are_applied_as_a_whole_only(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        open_notebook(desk, workspace / "n.ipynb", {"a": "x = PLAIN\n", "m": None, "b": "!ls\ny = PLAIN"})
        assert await fix_all(desk, "a", "source.fixAll") == []
        assert await fix_all(desk, "a", "source.fixAll.llm-lint") == []
        (action,) = await fix_all(desk, "a", "notebook.source.fixAll")
        assert action.kind == "notebook.source.fixAll.llm-lint"
        resolved = await code_action_resolve.handle(desk.session, action)
        assert resolved.edit is not None
        edits = {
            change.text_document.uri: change.edits
            for change in resolved.edit.document_changes or ()
            if isinstance(change, types.TextDocumentEdit)
        }
        assert {uri: [each.new_text for each in some] for uri, some in edits.items()} == {  # type: ignore[union-attr]
            cell_uri("a"): ["x = fancy\n"],
            cell_uri("b"): ["y = fancy"],
        }

    at_desk(workspace, work)


def test_a_cell_can_be_fixed_and_excused(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        open_notebook(desk, workspace / "n.ipynb", {"a": "%%time\nx = 1\n", "b": "\ny = PLAIN"})
        await desk.settled()
        edited: dict[str, tuple[str, int]] = {}
        for action in await fix_all(desk, "b", "quickfix"):
            for change in (action.edit.document_changes if action.edit is not None else None) or ():
                assert isinstance(change, types.TextDocumentEdit)
                edited[action.title] = (change.text_document.uri, change.edits[0].range.start.line)
        assert edited == {
            "llm-lint (DEM102): `PLAIN` is dull": (cell_uri("b"), 1),
            "llm-lint: Disable DEM102 for this line": (cell_uri("b"), 1),
            "llm-lint: Disable DEM102 for this file": (cell_uri("a"), 1),
        }

    at_desk(workspace, work)


def test_lenses_stand_in_their_cells(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        open_notebook(
            desk, workspace / "n.ipynb", {"a": "import torch\n", "b": "\nclass Net(torch.nn.Module):\n    pass\n"}
        )
        lenses = {
            name: await code_lens.handle(
                desk.session, types.CodeLensParams(types.TextDocumentIdentifier(cell_uri(name)))
            )
            for name in "ab"
        }
        assert lenses["a"] == []
        assert [each.range.start for each in lenses["b"]] == [types.Position(1, 6)]

    at_desk(workspace, work)


def test_tags_and_execution_counts_are_read(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        metadata: Any = {"metadata": {"tags": ["parameters"]}}
        tagged = types.NotebookCell(Code, cell_uri("a"), metadata, types.ExecutionSummary(3))
        notebook = types.NotebookDocument(
            (workspace / "n.ipynb").as_uri(), "jupyter-notebook", 1, [tagged, cell("b", count=2)]
        )
        params = types.DidOpenNotebookDocumentParams(notebook, [text_of("a", "x = 1"), text_of("b", "y = 1")])
        did_open_notebook.handle(desk.session, params)
        document = desk.session.documents.document(notebook.uri)
        assert document is not None
        source = document.source("n.ipynb", 1_000)
        assert source.parameter_rows == ((1, 1),)
        assert not source.executed_in_order

    at_desk(workspace, work)


def test_a_notebook_over_the_wire(connect: Callable[..., Wire], workspace: Path) -> None:
    wire = connect()
    selector = wire.start(PULLS)["notebookDocumentSync"]["notebookSelector"]
    assert selector == [{"cells": [{"language": "python"}]}]
    cells = [
        {"kind": 2, "document": cell_uri("b"), "metadata": {"tags": ["parameters"]}},
        {"kind": 2, "document": cell_uri("c"), "executionSummary": {"executionOrder": 2}},
    ]
    texts = [
        {"uri": cell_uri(name), "languageId": "python", "version": 1, "text": text}
        for name, text in (("b", TOKENIZER), ("c", MODEL))
    ]
    uri = (workspace / "n.ipynb").as_uri()
    notebook = {"uri": uri, "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
    wire.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": texts})
    assert "LLM101" in [each["code"] for each in wire.pushed(cell_uri("b"))]
    change = {"cells": {"structure": {"array": {"start": 0, "deleteCount": 1}, "didClose": [{"uri": cell_uri("b")}]}}}
    wire.notify("notebookDocument/didChange", {"notebookDocument": {"uri": uri, "version": 2}, "change": change})
    assert wire.pushed(cell_uri("b")) == []
    assert wire.shut_down() == 0
