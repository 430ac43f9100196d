"""Diagnostics in the editor: pulled or pushed, never both, and never those of another text."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from llm_lsp.facts import Stopped
from llm_lsp.server import checking
from llm_lsp.server.documents import TextDocument
from llm_lsp.server.notifications import did_open
from tests.server.desk import PULLING, PUSHED_TO, Desk, at_desk
from tests.server.opening import change_text, close_text, codes, open_text, pulled
from tests.server.programs import CLEAN, FAULTY
from tests.server.wire import PUSHED, Wire

pytestmark = pytest.mark.usefixtures("demo_rules")

Connect = Callable[..., Wire]


# ---------------------------------------------------------------- over the wire


def test_a_client_that_pulls_is_pushed_nothing(connect: Connect, workspace: Path) -> None:
    wire = connect()
    assert wire.start()["diagnosticProvider"]["interFileDependencies"] is True
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY)
    report = wire.pull(uri)
    assert [item["code"] for item in report["items"]] == ["LLM101"]
    assert wire.pull(uri, report["resultId"])["kind"] == "unchanged"
    wire.shut_down()
    assert not [each for each in wire.notifications if each["method"] == "textDocument/publishDiagnostics"]


def test_a_client_that_can_not_pull_is_pushed_versions(connect: Connect, workspace: Path) -> None:
    wire = connect()
    assert "diagnosticProvider" not in wire.start(PUSHED)
    uri = (workspace / "a b😊%.py").as_uri()
    wire.open(uri, FAULTY, version=7)
    assert [each["code"] for each in wire.pushed(uri, 7)] == ["LLM101"]
    wire.change(uri, 8, {"text": CLEAN})
    assert wire.pushed(uri, 8) == []


def test_nothing_is_shown_of_a_text_that_was_closed(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start(PUSHED)
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY)
    assert wire.pushed(uri)
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert wire.pushed(uri) == []


def test_a_burst_of_edits_ends_in_the_diagnostics_of_the_last_text(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start(PUSHED)
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY)
    line = {"line": 0, "character": 0}
    for version in range(2, 1_002):
        wire.change(uri, version, {"range": {"start": line, "end": line}, "text": "#\n"})
    found = wire.pushed(uri, 1_001)
    assert [each["range"]["start"]["line"] for each in found] == [1_003]


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 27), ("utf-16", 24), ("utf-32", 23)])
def test_columns_are_counted_as_was_agreed(encoding: str, character: int, connect: Connect, workspace: Path) -> None:
    wire = connect()
    capabilities = {**PUSHED, "general": {"positionEncodings": [encoding, "utf-16"]}}
    assert wire.start(capabilities)["positionEncoding"] == encoding
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY.replace("tokenizer = ", 'x = "😊e\u0301"; tokenizer = '))
    assert [each["range"]["start"]["character"] for each in wire.pushed(uri)] == [character]


# ---------------------------------------------------------------- in this process


def test_results_are_unchanged_until_something_changes(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        first = await pulled(desk, uri)
        assert codes(first) == ["DEM102"]
        again = await pulled(desk, uri, first.result_id)
        assert isinstance(again, types.RelatedUnchangedDocumentDiagnosticReport)
        change_text(desk, uri, "PLAIN = 2\n", 2)
        assert codes(await pulled(desk, uri, first.result_id)) == ["DEM102"]

    at_desk(workspace, work)


def test_an_edit_that_was_undone_is_no_news(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        first = await pulled(desk, uri)
        change_text(desk, uri, "x = 1\n", 2)
        assert codes(await pulled(desk, uri, first.result_id)) == []
        change_text(desk, uri, "PLAIN = 1\n", 3)
        second = await pulled(desk, uri, first.result_id)
        assert isinstance(second, types.RelatedUnchangedDocumentDiagnosticReport)

    at_desk(workspace, work)


def test_only_the_text_as_it_is_in_the_end_is_published(workspace: Path) -> None:
    async def work(desk: Desk) -> list[tuple[str, int | None, int]]:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        for version in range(2, 30):
            change_text(desk, uri, "PLAIN = 1\n" * version, version)
        await desk.settled()
        return [(uri, version, len(found)) for uri, version, found in desk.published]

    assert at_desk(workspace, work, capabilities=PUSHED_TO) == [((workspace / "a.py").as_uri(), 29, 29)]


def test_a_keystroke_stops_the_check_that_it_outdates(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[int] = []
    begun = threading.Event()
    linted = checking.linted

    def slow(source: object, *arguments: object) -> object:
        if "endless" in source.text:  # type: ignore[attr-defined]
            begun.set()
            stop = arguments[2]
            while not stop():  # type: ignore[operator]
                threading.Event().wait(0.001)
            stopped.append(1)
            raise Stopped
        return linted(source, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(checking, "linted", slow)

    async def work(desk: Desk) -> object:
        uri = open_text(desk, workspace / "a.py", "endless = 1\n")
        pull = desk.session.current(uri)
        task = asyncio.ensure_future(pull)
        await asyncio.get_running_loop().run_in_executor(None, begun.wait)
        change_text(desk, uri, "PLAIN = 1\n", 2)
        result = await task
        assert result is not None
        return [each.code for shown in result.reports.values() for each in shown]

    assert at_desk(workspace, work) == ["DEM102"]
    assert stopped == [1]


def test_a_text_that_is_closed_while_it_is_checked_is_not_published(workspace: Path) -> None:
    async def work(desk: Desk) -> list[types.Diagnostic]:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n" * 200)
        close_text(desk, uri)
        await desk.settled()
        assert all(not found for _, _, found in desk.published)
        return desk.shown(uri)

    assert at_desk(workspace, work, capabilities=PUSHED_TO) == []


def test_a_rule_that_raises_is_told_of_once_and_the_others_report(workspace: Path) -> None:
    async def work(desk: Desk) -> list[object]:
        uri = open_text(desk, workspace / "a.py", "CRASH = PLAIN = 1\n")
        await pulled(desk, uri)
        change_text(desk, uri, "CRASH = PLAIN = 2\n", 2)
        found = codes(await pulled(desk, uri))
        assert len([message for message in desk.messages if "DEM105" in message]) == 1
        return found

    assert sorted(map(str, at_desk(workspace, work))) == ["DEM102", "LLM002"]


def test_what_is_excluded_is_not_shown(workspace: Path) -> None:
    (workspace / "llm-lint.toml").write_text('extend-exclude = ["generated"]\n', encoding="utf-8")

    async def work(desk: Desk) -> None:
        inside = open_text(desk, workspace / "generated" / "a.py", "PLAIN = 1\n")
        outside = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        assert codes(await pulled(desk, inside)) == []
        assert codes(await pulled(desk, outside)) == ["DEM102"]

    at_desk(workspace, work)


def test_a_text_in_no_file_is_checked_with_the_settings_of_the_workspace(workspace: Path) -> None:
    (workspace / "llm-lint.toml").write_text('ignore = ["DEM102"]\n', encoding="utf-8")

    async def work(desk: Desk) -> None:
        item = types.TextDocumentItem("untitled:Untitled-1", "python", 1, "PLAIN = LOUD\n")
        did_open.handle(desk.session, types.DidOpenTextDocumentParams(item))
        assert codes(await pulled(desk, item.uri)) == ["DEM101"]

    at_desk(workspace, work)


@pytest.mark.parametrize("language", ["toml", "json", "markdown"])
def test_other_languages_have_no_diagnostics(language: str, workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        item = types.TextDocumentItem((workspace / "a").as_uri(), language, 1, "PLAIN\n")
        did_open.handle(desk.session, types.DidOpenTextDocumentParams(item))
        assert codes(await pulled(desk, item.uri)) == []

    at_desk(workspace, work)


def test_related_places_become_words_where_the_client_can_not_show_them(workspace: Path) -> None:
    async def work(desk: Desk) -> list[types.Diagnostic]:
        uri = open_text(desk, workspace / "a.py", "LOUD = 1\nx = LOUD\n")
        return await desk.next_published(uri)

    _, second = at_desk(workspace, work, capabilities=replace(PUSHED_TO, shows_related=False))
    assert "and before (line 1)" in second.message
    assert second.related_information is None
    _, second = at_desk(workspace, work, capabilities=PUSHED_TO)
    assert [each.message for each in second.related_information or ()] == ["and before"]


@pytest.mark.parametrize("fades", [True, False])
def test_a_suppression_without_use_is_faded_where_the_client_can(fades: bool, workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\nx = 1  # noqa: LLM101\n")
        report = await pulled(desk, uri)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        tags = {each.code: each.tags for each in report.items}
        assert tags == {"DEM102": None, "LLM001": [types.DiagnosticTag.Unnecessary] if fades else None}

    at_desk(workspace, work, capabilities=replace(PULLING, fades_what_is_unnecessary=fades))


def test_the_help_is_part_of_the_message(workspace: Path) -> None:
    async def work(desk: Desk) -> list[types.Diagnostic]:
        return await desk.next_published(open_text(desk, workspace / "a.py", "LOUD = 1\n"))

    assert at_desk(workspace, work, capabilities=PUSHED_TO)[0].message == "`LOUD` is shouted\nhelp: say `calm`"


def test_nothing_is_kept_of_texts_that_were_closed(workspace: Path) -> None:
    async def work(desk: Desk) -> tuple[int, int]:
        for number in range(5):
            uri = open_text(desk, workspace / f"{number}.py", "PLAIN = 1\n")
            await pulled(desk, uri)
            close_text(desk, uri)
        return len(list(desk.session.documents)), desk.session.kept

    assert at_desk(workspace, work, capabilities=PULLING) == (0, 0)


def test_a_failure_of_the_linter_itself_is_a_diagnostic(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("of the linter")

    monkeypatch.setattr(checking, "lint", fail)

    async def work(desk: Desk) -> types.DocumentDiagnosticReport:
        return await pulled(desk, open_text(desk, workspace / "a.py", "PLAIN = 1\n"))

    assert codes(at_desk(workspace, work)) == ["LLM002"]


def test_documents_are_read_as_the_command_line_reads_files() -> None:
    document = TextDocument("file:///a.py", 1, "python", "x = 1\r\ny = 2\r\n")
    assert document.source("a.py", 100).text == "x = 1\ny = 2\n"
