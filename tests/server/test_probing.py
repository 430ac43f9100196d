"""The probe in the editor. The programs state what a run of them finds out; that it is true is proved elsewhere."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from llm_lsp.probe.client import Probes
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.notifications import did_save, progress_cancel
from llm_lsp.server.requests import code_lens, execute_command, inlay_hint
from tests.probe.worker_process import stand_in, wait_for_file, wait_until_gone
from tests.server.desk import PULLING, PUSHED_TO, Desk, at_desk
from tests.server.opening import change_text, close_text, open_text, pulled
from tests.server.wire import PULLS, Wire

pytestmark = pytest.mark.xdist_group("probe worker")

T = TypeVar("T")

HERE = {"inlayHints.gradMode": False, "interpreter": sys.executable}
TABLE = ClientCapabilities(
    pulls_diagnostics=True,
    refreshes_diagnostics=True,
    refreshes_code_lenses=True,
    refreshes_inlay_hints=True,
    shows_related=True,
    shows_progress=True,
    takes_probe_results=True,
)

MODEL = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        größe = x @ x
        return größe


OUTCOME = {outcome}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stand_in(tmp_path_factory.mktemp("probe")) / "__main__.py"


class Open:
    """A saved program that is open in the editor."""

    def __init__(self, desk: Desk, folder: Path, program: Path) -> None:
        self.desk = desk
        self.path = folder / "model.py"
        desk.session.probing.probes = Probes(program)

    def text(self, status: str, result: dict[str, Any], before: str = "") -> str:
        outcome = {"status": status, "result": {"target": "Net", **result}}
        return MODEL.replace("{outcome}", repr(outcome)).replace("import torch\n", f"{before}import torch\n", 1)

    def open(self, status: str, result: dict[str, Any], before: str = "") -> str:
        text = self.text(status, result, before)
        self.path.write_text(text, encoding="utf-8")
        return open_text(self.desk, self.path, text)

    def save(self, uri: str, text: str, version: int) -> None:
        self.path.write_text(text, encoding="utf-8")
        change_text(self.desk, uri, text, version)
        did_save.handle(self.desk.session, types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))


def with_open(
    folder: Path,
    program: Path,
    work: Callable[[Open], Awaitable[T]],
    *,
    capabilities: ClientCapabilities = TABLE,
    options: dict[str, Any] | None = None,
) -> T:
    return at_desk(
        folder,
        lambda desk: work(Open(desk, folder, program)),
        capabilities=capabilities,
        options={**HERE, **(options or {})},
    )


async def click(desk: Desk, uri: str, name: str | None = "Net", **more: object) -> Any:  # noqa: ANN401 (JSON)
    argument = {"uri": uri, "name": name, "kind": "class", **more}
    return await execute_command.handle(desk.session, types.ExecuteCommandParams(code_lens.PROBE, [argument]))


async def items(desk: Desk, uri: str) -> list[types.Diagnostic]:
    report = await pulled(desk, uri)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return list(report.items)


async def lens_titles(desk: Desk, uri: str) -> list[str]:
    lenses = await code_lens.handle(desk.session, types.CodeLensParams(types.TextDocumentIdentifier(uri)))
    return [lens.command.title for lens in lenses if lens.command is not None]


async def hints(desk: Desk, uri: str) -> list[tuple[int, int, object]]:
    everything = types.Range(types.Position(0, 0), types.Position(99, 0))
    params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
    found = await inlay_hint.handle(desk.session, params)
    return [(each.position.line, each.position.character, each.label) for each in found]


def failing(path: Path, **more: object) -> dict[str, Any]:
    frames: list[dict[str, Any]] = [
        {"file": str(path), "line": 10, "col": 0, "end_line": 10, "end_col": 7, "function": "<module>", "tensors": {}},
        {
            "file": str(path),
            "line": 7,
            "col": 16,
            "end_line": 7,
            "end_col": 21,
            "function": "Net.forward",
            "tensors": {},
        },
    ]
    error: dict[str, Any] = {
        "message": "[2, 3] @ [2, 3]: the last axis",
        "op": "matmul",
        "operands": ["[2, 3]"] * 2,
        "frames": frames,
    }
    return {"confirmed": True, "error": error, **more}


# ---------------------------------------------------------------- what is shown


def test_an_error_is_a_diagnostic_at_the_operation(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        uri = at.open("user_error", failing(at.path))
        answer = await click(at.desk, uri)
        assert (answer["status"], answer["asked"], answer["uri"], answer["name"]) == ("user_error", True, uri, "Net")
        (shown,) = await items(at.desk, uri)
        assert (shown.source, shown.severity) == ("llm-lint probe", types.DiagnosticSeverity.Error)
        assert shown.message == "[2, 3] @ [2, 3]: the last axis"
        assert shown.range == types.Range(types.Position(6, 16), types.Position(6, 21))
        (outer,) = list(shown.related_information or ())
        assert (outer.location.range.start.line, outer.message) == (9, "called in `<module>`")
        assert at.desk.messages == []

    with_open(workspace, program, work)


def test_what_only_an_abstract_run_has_shown_is_a_warning(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[types.DiagnosticSeverity | None]:
        uri = at.open("user_error", failing(at.path, confirmed=False))
        await click(at.desk, uri)
        return [each.severity for each in await items(at.desk, uri)]

    assert with_open(workspace, program, work) == [types.DiagnosticSeverity.Warning]


def test_static_diagnostics_stand_beside_it_unchanged(workspace: Path, program: Path, demo_rules: None) -> None:
    async def work(at: Open) -> None:
        uri = at.open("user_error", failing(at.path), before="PLAIN = 1\n")
        before = await items(at.desk, uri)
        assert [each.code for each in before] == ["DEM102"]
        await click(at.desk, uri)
        after = await items(at.desk, uri)
        assert [each for each in after if each.source == "llm-lint"] == before
        assert len(after) == len(before) + 1

    with_open(workspace, program, work)


def test_it_is_pushed_to_clients_that_do_not_pull(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        uri = at.open("user_error", failing(at.path))
        assert await at.desk.next_published(uri) == []
        await click(at.desk, uri)
        (shown,) = await at.desk.next_published(uri, 2)
        assert shown.source == "llm-lint probe"

    with_open(workspace, program, work, capabilities=PUSHED_TO)


def test_the_id_of_a_result_changes_with_what_the_probe_says(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        uri = at.open("user_error", failing(at.path))
        first = await pulled(at.desk, uri)
        await click(at.desk, uri)
        assert "diagnostics" in at.desk.refreshed
        second = await pulled(at.desk, uri, first.result_id)
        assert isinstance(second, types.RelatedFullDocumentDiagnosticReport)
        third = await pulled(at.desk, uri, second.result_id)
        assert isinstance(third, types.RelatedUnchangedDocumentDiagnosticReport)

    with_open(workspace, program, work)


def test_it_goes_when_the_next_run_is_well(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        uri = at.open("user_error", failing(at.path))
        await click(at.desk, uri)
        assert len(await items(at.desk, uri)) == 1
        at.save(uri, at.text("ok", {}), 2)
        await click(at.desk, uri)
        assert await items(at.desk, uri) == []

    with_open(workspace, program, work)


def test_it_moves_with_its_line_and_goes_with_it(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        uri = at.open("user_error", failing(at.path))
        await click(at.desk, uri)
        text = at.text("user_error", failing(at.path))
        change_text(at.desk, uri, f"# one line more\n{text}", 2)
        assert [each.range.start.line for each in await items(at.desk, uri)] == [7]
        change_text(at.desk, uri, text.replace("x @ x", "x @ x.T"), 3)
        assert await items(at.desk, uri) == []
        change_text(at.desk, uri, text, 4)
        assert [each.range.start.line for each in await items(at.desk, uri)] == [6]

    with_open(workspace, program, work)


def test_notices_are_warnings_or_less(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[tuple[object, str, int]]:
        notices = [
            {"kind": "batch", "message": "samples mix", "file": str(at.path), "line": 7},
            {"kind": "portability", "message": "not on a GPU", "file": str(at.path), "line": 8},
            {"kind": "length", "message": "of no line", "file": None, "line": None},
        ]
        uri = at.open("ok", {"notices": notices})
        await click(at.desk, uri)
        return [(each.severity, each.message, each.range.start.line) for each in await items(at.desk, uri)]

    assert with_open(workspace, program, work) == [
        (types.DiagnosticSeverity.Warning, "samples mix", 6),
        (types.DiagnosticSeverity.Information, "not on a GPU", 7),
    ]


def test_shapes_stand_behind_the_names_that_forward_assigns(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[tuple[int, int, object]]:
        shape = {"file": str(at.path), "line": 7, "name": "größe", "shape": "[2, 13]"}
        uri = at.open("ok", {"shapes": [shape]})
        assert await hints(at.desk, uri) == []
        await click(at.desk, uri)
        assert "inlay hints" in at.desk.refreshed
        return await hints(at.desk, uri)

    assert with_open(workspace, program, work) == [(6, 13, ": [2, 13]")]
    assert with_open(workspace, program, work, options={"inlayHints.shapes": False}) == []


def test_the_lens_tells_shapes_and_costs(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        totals: dict[str, Any] = {"params": 10_795_776, "flops": 1_234_567_890, "bytes": {}}
        uri = at.open("ok", {"inputs": {"x": "int64[2,13]"}, "outputs": "[2, 13, 65]", "totals": totals})
        assert await lens_titles(at.desk, uri) == ["Check shapes"]
        await click(at.desk, uri)
        assert "code lenses" in at.desk.refreshed
        told = "[2, 13] → [2, 13, 65] · 10.8 M parameters · 1.23 GFLOP"
        assert await lens_titles(at.desk, uri) == ["Check shapes", told]

    with_open(workspace, program, work)


def test_a_file_as_a_whole_tells_of_each_class(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        one = {"status": "user_error", "result": {"target": "Net", **failing(at.path)}}
        other: dict[str, Any] = {"status": "ok", "result": {"target": "Other", "shapes": []}}
        uri = at.open("user_error", {"target": None, "classes": [one, other]})
        await click(at.desk, uri, None)
        assert len(await items(at.desk, uri)) == 1
        assert await lens_titles(at.desk, uri) == ["Check shapes", "[2, 3] @ [2, 3]: the last axis"]

    with_open(workspace, program, work)


def test_a_view_is_sent_every_result(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> None:
        uri = at.open("ok", {"rows": []})
        answer = await click(at.desk, uri)
        partial, last = at.desk.probe_results
        assert (partial["status"], partial["uri"], partial["name"]) == ("running", uri, "Net")
        assert last == answer
        argument = {"uri": uri, "name": "Net"}
        params = types.ExecuteCommandParams(code_lens.PROBE_RESULT, [argument])
        assert await execute_command.handle(at.desk.session, params) == answer
        assert at.desk.probe_results[-1] == answer

    with_open(workspace, program, work)
    # Others are sent nothing that they don't know.
    assert with_open(workspace, program, quiet, capabilities=PULLING) == []


async def quiet(at: Open) -> list[dict[str, object]]:
    await click(at.desk, at.open("ok", {}))
    return at.desk.probe_results


@pytest.mark.parametrize(
    ("status", "result", "words"),
    [
        ("needs_args", {"problem": "`Net` can't be made", "paste": "# probe: Net(...)"}, "# probe: Net(...)"),
        ("missing_package", {"missing": ["einops"]}, "`einops` is not installed"),
        ("unsupported", {"problem": "`Net` is no `nn.Module`"}, "is no `nn.Module`"),
    ],
)
def test_what_is_no_fault_of_the_program_is_a_message(
    status: str, result: dict[str, Any], words: str, workspace: Path, program: Path
) -> None:
    async def work(at: Open) -> list[str]:
        uri = at.open(status, result)
        await click(at.desk, uri)
        assert await items(at.desk, uri) == []
        return at.desk.messages

    (message,) = with_open(workspace, program, work)
    assert message.startswith("llm-lint: Net: ")
    assert words in message


def test_a_run_of_what_is_not_saved_says_so(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[str]:
        uri = at.open("ok", {})
        change_text(at.desk, uri, "# changed\n" + at.path.read_text(encoding="utf-8"), 2)
        answer = await click(at.desk, uri)
        return [notice["kind"] for notice in answer["result"]["notices"]]

    assert with_open(workspace, program, work) == ["unsaved"]


def test_nothing_is_shown_of_a_file_that_was_closed(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[types.Diagnostic]:
        uri = at.open("user_error", failing(at.path))
        await click(at.desk, uri)
        close_text(at.desk, uri)
        return await items(at.desk, at.open("user_error", failing(at.path)))

    assert with_open(workspace, program, work) == []


# ---------------------------------------------------------------- when it runs


def test_an_untrusted_workspace_runs_nothing(workspace: Path, program: Path) -> None:
    note = workspace / "note"

    async def work(at: Open) -> list[str]:
        uri = at.open("ok", {}, before=f"open({str(note)!r}, 'w').close()\n")
        assert await click(at.desk, uri) is None
        did_save.handle(at.desk.session, types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
        await at.desk.settled()
        return at.desk.messages

    (message,) = with_open(workspace, program, work, options={"trusted": False, "probe.onSave": True})
    assert "not trusted" in message
    assert not note.exists()
    with_open(workspace, program, work_that_runs)


async def work_that_runs(at: Open) -> None:
    assert (await click(at.desk, at.open("ok", {})))["status"] == "ok"


@pytest.mark.parametrize("on_save", [True, False])
def test_a_save_checks_again_only_where_the_user_wants_that(on_save: bool, workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[tuple[object, object]]:
        uri = at.open("ok", {})
        did_save.handle(at.desk.session, types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
        await at.desk.settled()
        assert at.desk.probe_results == []  # nothing was checked yet
        await click(at.desk, uri)
        at.save(uri, at.text("user_error", failing(at.path)), 2)
        await at.desk.settled()
        return [(each["status"], each["asked"]) for each in at.desk.probe_results if each["status"] != "running"]

    found = with_open(workspace, program, work, options={"probe": {"onSave": on_save}})
    assert found == [("ok", True), ("user_error", False)][: 2 if on_save else 1]


def test_what_can_not_be_run_is_refused(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[str]:
        assert await click(at.desk, (workspace / "closed.py").as_uri()) is None
        assert await click(at.desk, open_text(at.desk, workspace / "new.py", "x = 1\n")) is None
        return at.desk.messages

    closed, new = with_open(workspace, program, work)
    assert "open" in closed
    assert "saved" in new


@pytest.mark.parametrize("arguments", [[], [{}], ["model.py"], [{"uri": 7}]])
def test_arguments_that_name_no_file_are_refused(arguments: list[Any], workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        with pytest.raises(JsonRpcInvalidParams):
            await execute_command.handle(desk.session, types.ExecuteCommandParams(code_lens.PROBE, arguments))

    at_desk(workspace, work)


def test_an_interpreter_that_does_not_exist_is_told(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[str]:
        assert (await click(at.desk, at.open("ok", {})))["status"] == "no_torch"
        return at.desk.messages

    (message,) = with_open(workspace, program, work, options={"interpreter": str(workspace / "none")})
    assert "is no Python interpreter" in message


# ---------------------------------------------------------------- progress, and its end


SPIN = "import os, time\nopen({note!r}, 'w').write(str(os.getpid()))\nwhile True: time.sleep(9)\n"


def test_progress_is_shown_and_ends(workspace: Path, program: Path) -> None:
    async def work(at: Open) -> list[object]:
        await click(at.desk, at.open("ok", {}))
        (token,) = at.desk.created
        assert {each[0] for each in at.desk.progress} == {token}
        return [each[1] for each in at.desk.progress]

    first, *middle, last = with_open(workspace, program, work)
    assert isinstance(first, types.WorkDoneProgressBegin)
    assert (first.title, first.cancellable) == ("Checking the shapes of Net", True)
    assert middle
    assert isinstance(last, types.WorkDoneProgressEnd)


def test_a_run_is_cancelled_where_its_progress_is_shown(workspace: Path, program: Path) -> None:
    note = workspace / "note"

    async def work(at: Open) -> str:
        uri = at.open("ok", {}, before=SPIN.format(note=str(note)))
        task = asyncio.ensure_future(click(at.desk, uri))
        process = int(await asyncio.to_thread(wait_for_file, note))
        # Meanwhile it answers.
        assert await items(at.desk, uri) == []
        progress_cancel.handle(at.desk.session, types.WorkDoneProgressCancelParams(at.desk.created[0]))
        answer = await task
        await asyncio.to_thread(wait_until_gone, process)
        assert isinstance(at.desk.progress[-1][1], types.WorkDoneProgressEnd)
        assert at.desk.messages == []
        return str(answer["status"])

    assert with_open(workspace, program, work) == "cancelled"


def test_another_click_begins_again(workspace: Path, program: Path) -> None:
    note = workspace / "note"

    async def work(at: Open) -> list[str]:
        uri = at.open("ok", {}, before=SPIN.format(note=str(note)))
        first = asyncio.ensure_future(click(at.desk, uri))
        await asyncio.to_thread(wait_for_file, note)
        at.save(uri, at.text("ok", {}), 2)
        second = await click(at.desk, uri)
        return [(await first)["status"], second["status"]]

    assert with_open(workspace, program, work) == ["cancelled", "ok"]


# ---------------------------------------------------------------- the whole way, with nothing stated


REAL = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.first = nn.Linear(width, 2 * width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        hidden = self.first(x)
        return self.second(hidden)
"""


def test_a_fault_is_found_where_it_is(connect: Callable[..., Wire], workspace: Path) -> None:
    wire = connect()
    wire.start({**PULLS, "experimental": {"probeResults": True}}, {"interpreter": sys.executable})
    path = workspace / "model.py"
    path.write_text(REAL, encoding="utf-8")
    uri = path.as_uri()
    wire.open(uri, REAL)
    params = {"command": "llm-lint.probe", "arguments": [{"uri": uri, "name": "Net", "kind": "class"}]}
    answer = wire.request("workspace/executeCommand", params)
    assert answer["status"] == "user_error"
    (shown,) = [each for each in wire.pull(uri)["items"] if each["source"] == "llm-lint probe"]
    assert (shown["severity"], shown["range"]["start"]["line"]) == (1, 12)
    assert "48" in shown["message"]
    assert "96" in shown["message"]
    repaired = REAL.replace("nn.Linear(width, width)", "nn.Linear(2 * width, width)")
    path.write_text(repaired, encoding="utf-8")
    wire.change(uri, 2, {"text": repaired})
    assert wire.request("workspace/executeCommand", params)["status"] == "ok"
    assert [each for each in wire.pull(uri)["items"] if each["source"] == "llm-lint probe"] == []
    where = {"start": {"line": 0, "character": 0}, "end": {"line": 20, "character": 0}}
    hints = wire.request("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": where})
    assert [(each["position"]["line"], each["label"]) for each in hints] == [(11, ": [2, 13, 96]")]
    titles = [
        each["command"]["title"] for each in wire.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    ]
    assert titles[0] == "Check shapes"
    assert titles[1].startswith("[2, 13, 48] → [2, 13, 48] · 9.36 k parameters")
    assert wire.shut_down() == 0


@pytest.mark.skipif(os.name == "nt", reason="by the number of a process")
def test_a_client_that_vanishes_ends_the_run(connect: Callable[..., Wire], workspace: Path) -> None:
    wire = connect()
    wire.start(PULLS, {"interpreter": sys.executable})
    note, path = workspace / "note", workspace / "model.py"
    text = SPIN.format(note=str(note)) + MODEL.replace("{outcome}", "None")
    path.write_text(text, encoding="utf-8")
    wire.open(path.as_uri(), text)
    argument = {"uri": path.as_uri(), "name": "Net", "kind": "class"}
    wire.ask("workspace/executeCommand", {"command": "llm-lint.probe", "arguments": [argument]})
    process = int(wait_for_file(note))
    assert wire.process.stdin is not None
    wire.process.stdin.close()
    assert wire.wait_for_end() == 1
    wait_until_gone(process)


@pytest.mark.skipif(os.name == "nt", reason="as above")
def test_a_request_that_is_cancelled_ends_the_run(connect: Callable[..., Wire], workspace: Path) -> None:
    wire = connect()
    capabilities = {**PULLS, "experimental": {"probeResults": True}}
    wire.start(capabilities, {"interpreter": sys.executable})
    note, path = workspace / "note", workspace / "model.py"
    text = SPIN.format(note=str(note)) + MODEL.replace("{outcome}", "None")
    path.write_text(text, encoding="utf-8")
    wire.open(path.as_uri(), text)
    argument = {"uri": path.as_uri(), "name": "Net", "kind": "class"}
    request = wire.ask("workspace/executeCommand", {"command": "llm-lint.probe", "arguments": [argument]})
    process = int(wait_for_file(note))
    wire.notify("$/cancelRequest", {"id": request})
    wait_until_gone(process)
    assert wire.wait_for("llm-lint/probeResult")["status"] == "cancelled"
    assert wire.answer(request)["result"]["status"] == "cancelled"
    assert wire.shut_down() == 0
