"""The light bulb: fixes, suppressions, explanations, and all safe fixes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from lsprotocol import types

from llm_lsp.server import checking
from llm_lsp.server.requests import code_action, code_action_resolve, execute_command
from llm_lsp.server.uris import path_of
from tests.server.desk import PULLING, PUSHED_TO, Desk, at_desk
from tests.server.opening import change_text, codes, open_text, pulled

pytestmark = pytest.mark.usefixtures("demo_rules")

EVERYWHERE = types.Range(types.Position(0, 0), types.Position(99, 0))


async def actions(
    desk: Desk, uri: str, diagnostics: Sequence[types.Diagnostic] = (), only: Sequence[str] | None = None
) -> list[types.CodeAction]:
    context = types.CodeActionContext(list(diagnostics), only)
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), EVERYWHERE, context)
    return await code_action.handle(desk.session, params)


async def items(desk: Desk, uri: str) -> Sequence[types.Diagnostic]:
    report = await pulled(desk, uri)
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return report.items


def applied(text: str, edit: types.WorkspaceEdit | None, uri: str) -> str:
    """The text after an edit, in whichever form it came; all texts here are ASCII with LF."""
    assert edit is not None
    edits: list[types.TextEdit] = []
    if edit.document_changes is not None:
        for change in edit.document_changes:
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.uri == uri
            edits += [each for each in change.edits if isinstance(each, types.TextEdit)]
    else:
        edits += (edit.changes or {})[uri]
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for each in sorted(edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True):
        start = starts[each.range.start.line] + each.range.start.character
        end = starts[each.range.end.line] + each.range.end.character
        text = text[:start] + each.new_text + text[end:]
    return text


def test_a_safe_fix_is_preferred_and_an_unsafe_one_says_so(workspace: Path) -> None:
    text = "PLAIN = LOUD\n"

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", text)
        found = {each.title: each for each in await actions(desk, uri, await items(desk, uri), ["quickfix"])}
        safe = found["llm-lint (DEM102): `PLAIN` is dull"]
        unsafe = found["llm-lint (DEM101): say `calm` (unsafe)"]
        assert safe.is_preferred
        assert not unsafe.is_preferred
        assert applied(text, safe.edit, uri) == "fancy = LOUD\n"
        assert applied(text, unsafe.edit, uri) == "PLAIN = calm\n"

    at_desk(workspace, work)


def test_a_line_can_be_excused(workspace: Path) -> None:
    text = "x = '''\nPLAIN'''  # why\n"

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", text)
        found = {each.title: each for each in await actions(desk, uri, await items(desk, uri))}
        edit = found["llm-lint: Disable DEM102 for this line"].edit
        excused = applied(text, edit, uri)
        assert excused == "x = '''\nPLAIN'''  # why  # noqa: DEM102\n"
        change_text(desk, uri, excused, 2)
        assert codes(await pulled(desk, uri)) == []

    at_desk(workspace, work)


@pytest.mark.parametrize(
    ("text", "excused"),
    [
        ("PLAIN = 1\n", "# llm-lint: ignore-file[DEM102]\nPLAIN = 1\n"),
        ("#!/usr/bin/python\nPLAIN = 1\n", "#!/usr/bin/python\n# llm-lint: ignore-file[DEM102]\nPLAIN = 1\n"),
        ("# coding: utf-8\nPLAIN = 1\n", "# coding: utf-8\n# llm-lint: ignore-file[DEM102]\nPLAIN = 1\n"),
        (
            "# llm-lint: ignore-file[DEM101]\nPLAIN = LOUD\n",
            "# llm-lint: ignore-file[DEM101, DEM102]\nPLAIN = LOUD\n",
        ),
    ],
)
def test_a_file_can_be_excused(text: str, excused: str, workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", text)
        found = {each.title: each for each in await actions(desk, uri, await items(desk, uri))}
        edit = found["llm-lint: Disable DEM102 for this file"].edit
        assert applied(text, edit, uri) == excused
        change_text(desk, uri, excused, 2)
        assert codes(await pulled(desk, uri)) == []

    at_desk(workspace, work)


def test_what_can_not_be_read_is_not_excused(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "x = (\n")
        found = [each.title for each in await actions(desk, uri, await items(desk, uri))]
        assert found == ["llm-lint: Explain LLM000"]

    at_desk(workspace, work)


def test_actions_of_another_version_are_not_offered(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        old = await items(desk, uri)
        change_text(desk, uri, "# above\nPLAIN = 1\n", 2)
        assert await actions(desk, uri, old, ["quickfix"]) == []

    at_desk(workspace, work)


def test_a_client_that_keeps_no_data_has_the_same_actions(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = LOUD\n")
        found = await items(desk, uri)
        expected = [each.title for each in await actions(desk, uri, found, ["quickfix"])]
        bare = [types.Diagnostic(each.range, each.message, code=each.code, source=each.source) for each in found]
        assert [each.title for each in await actions(desk, uri, bare, ["quickfix"])] == expected
        assert [each.title for each in await actions(desk, uri, (), ["quickfix"])] == expected

    at_desk(workspace, work)


def test_data_that_is_not_ours_is_passed_over(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "x = 1\n")
        sent: list[object] = [
            {"version": 1, "fix": {}},
            {"version": 1, "fix": 3},
            {"version": 1, "line": [{}]},
            [],
            "x",
        ]
        for data in sent:
            theirs = types.Diagnostic(EVERYWHERE, "?", source="llm-lint", code="DEM101", data=data)
            assert [each.edit for each in await actions(desk, uri, [theirs])] in ([], [None])

    at_desk(workspace, work)


def test_the_menu_lints_nothing(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = LOUD\n")
        found = await items(desk, uri)

        def fail(*_: object) -> None:
            raise AssertionError

        monkeypatch.setattr(checking, "linted", fail)
        assert len(await actions(desk, uri, found)) > 5

    at_desk(workspace, work)


@pytest.mark.parametrize("only", [["source.fixAll"], ["source.fixAll.llm-lint"], ["source"]])
def test_all_safe_fixes_are_applied_at_once_and_no_other(only: list[str], workspace: Path) -> None:
    text = "PLAIN = 1\nx = LOUD\nPLAIN = 2\ny = 3\n"

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", text)
        (action,) = await actions(desk, uri, (), only)
        assert action.kind == "source.fixAll.llm-lint"
        assert action.edit is None
        resolved = await code_action_resolve.handle(desk.session, action)
        assert applied(text, resolved.edit, uri) == "fancy = 1\nx = LOUD\nfancy = 2\ny = 3\n"

    at_desk(workspace, work)


def test_a_client_that_resolves_nothing_gets_the_edit_at_once(workspace: Path) -> None:
    text = "x = PLAIN"

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", text)
        (action,) = await actions(desk, uri, (), ["source.fixAll"])
        assert applied(text, action.edit, uri) == "x = fancy"

    at_desk(workspace, work, capabilities=PUSHED_TO)


def test_where_nothing_is_to_be_fixed_nothing_is_offered(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "x = LOUD\n")
        assert await actions(desk, uri, (), ["source.fixAll"]) == []
        assert await actions(desk, uri, (), ["refactor"]) == []
        assert await actions(desk, uri, (), ["source.organizeImports"]) == []

    at_desk(workspace, work, capabilities=PUSHED_TO)


def test_edits_have_versions_where_the_client_checks_them(workspace: Path) -> None:
    async def work(desk: Desk) -> types.WorkspaceEdit | None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n", version=4)
        return (await actions(desk, uri, await items(desk, uri)))[0].edit

    edit = at_desk(workspace, work)
    assert edit is not None
    assert edit.document_changes is not None
    (change,) = edit.document_changes
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.version == 4
    edit = at_desk(workspace, work, capabilities=replace(PULLING, changes_documents=False))
    assert edit is not None
    assert edit.document_changes is None
    assert edit.changes


def test_a_rule_is_explained(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "LOUD = 1\n")
        found = {each.title: each for each in await actions(desk, uri, await items(desk, uri))}
        command = found["llm-lint: Explain DEM101"].command
        assert command is not None
        params = types.ExecuteCommandParams(command.command, command.arguments)
        page = await execute_command.handle(desk.session, params)
        assert "Nobody listens to those who shout." in str(page)
        assert "A word is shouted" in desk.messages[0]

    at_desk(workspace, work)


def test_a_rule_is_explained_in_a_document_where_the_client_opens_one(workspace: Path) -> None:
    async def work(desk: Desk) -> Path:
        await execute_command.handle(desk.session, types.ExecuteCommandParams("llm-lint.explain", ["LLM101"]))
        path = path_of(desk.documents[0])
        assert path is not None
        assert read(path).startswith("**LLM101** `tokenizer-of-another-model`")
        return path

    assert not at_desk(workspace, work, capabilities=replace(PULLING, shows_documents=True)).exists()


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "arguments"), [("llm-lint.explain", ["LLM999"]), ("llm-lint.explain", []), ("rm", [])]
)
def test_a_command_that_makes_no_sense_is_refused(command: str, arguments: list[str], workspace: Path) -> None:
    from pygls.exceptions import JsonRpcInvalidParams

    async def work(desk: Desk) -> None:
        with pytest.raises(JsonRpcInvalidParams):
            await execute_command.handle(desk.session, types.ExecuteCommandParams(command, arguments))

    at_desk(workspace, work)


def test_crlf_texts_are_edited_in_their_own_way(workspace: Path) -> None:
    async def work(desk: Desk) -> str:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\r\nx = PLAIN\r\n")
        found = {each.title: each for each in await actions(desk, uri, await items(desk, uri))}
        edit = found["llm-lint: Disable DEM102 for this file"].edit
        assert edit is not None
        assert edit.document_changes is not None
        (change,) = edit.document_changes
        assert isinstance(change, types.TextDocumentEdit)
        (each,) = change.edits
        assert isinstance(each, types.TextEdit)
        return each.new_text

    assert at_desk(workspace, work) == "# llm-lint: ignore-file[DEM102]\r\n"
