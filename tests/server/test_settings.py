"""Settings of the project and of the editor."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.notifications import (
    did_change_configuration,
    did_change_workspace_folders,
    did_save,
)
from llm_lsp.server.options import Options, read_options
from tests.server.desk import PULLING, PUSHED_TO, Desk, at_desk
from tests.server.opening import change_text, codes, open_text, pulled, told_of, write

pytestmark = pytest.mark.usefixtures("demo_rules")

IGNORES = 'ignore = ["DEM102"]\n'


def test_the_nearest_settings_file_counts(workspace: Path) -> None:
    write(workspace / "llm-lint.toml", IGNORES)
    write(workspace / "inner" / "pyproject.toml", "[tool.llm-lint]\n")

    async def work(desk: Desk) -> None:
        assert codes(await pulled(desk, open_text(desk, workspace / "a.py", "PLAIN = 1\n"))) == []
        assert codes(await pulled(desk, open_text(desk, workspace / "inner" / "a.py", "PLAIN = 1\n"))) == ["DEM102"]

    at_desk(workspace, work)


def test_settings_that_change_count_although_nobody_tells(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        first = await pulled(desk, uri)
        assert codes(first) == ["DEM102"]
        write(workspace / "llm-lint.toml", IGNORES)
        assert codes(await pulled(desk, uri, first.result_id)) == []
        (workspace / "llm-lint.toml").unlink()
        assert codes(await pulled(desk, uri)) == ["DEM102"]

    at_desk(workspace, work)


def test_settings_that_are_extended_count_when_they_change(workspace: Path) -> None:
    write(workspace / "base.toml", "")
    write(workspace / "llm-lint.toml", 'extend = "base.toml"\n')

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        assert codes(await pulled(desk, uri)) == ["DEM102"]
        write(workspace / "base.toml", IGNORES)
        assert codes(await pulled(desk, uri)) == []

    at_desk(workspace, work)


def test_a_client_that_is_pushed_to_sees_new_settings_as_soon_as_it_tells_of_them(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        assert len(await desk.next_published(uri)) == 1
        told_of(desk, write(workspace / "llm-lint.toml", IGNORES))
        assert await desk.next_published(uri, 2) == []

    at_desk(workspace, work, capabilities=PUSHED_TO)


def test_a_client_that_pulls_is_asked_to_pull_again(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        told_of(desk, write(workspace / "llm-lint.toml", IGNORES))
        assert desk.refreshed == ["diagnostics"]

    at_desk(workspace, work)


def test_what_changes_nothing_is_not_published_again(workspace: Path) -> None:
    async def work(desk: Desk) -> int:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        await desk.next_published(uri)
        told_of(desk, workspace / "config.json", workspace / "other.py")
        await desk.settled()
        return len(desk.published)

    assert at_desk(workspace, work, capabilities=PUSHED_TO) == 1


def test_a_saved_settings_file_is_looked_at(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        await desk.next_published(uri)
        path = write(workspace / "pyproject.toml", f"[tool.llm-lint]\n{IGNORES}")
        did_save.handle(desk.session, types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
        assert await desk.next_published(uri, 2) == []

    at_desk(workspace, work, capabilities=PUSHED_TO)


@pytest.mark.parametrize("capabilities", [PULLING, PUSHED_TO], ids=["pulling", "pushed to"])
def test_invalid_settings_are_a_diagnostic_in_their_file_and_the_last_good_ones_stay(
    capabilities: ClientCapabilities, workspace: Path
) -> None:
    settings = write(workspace / "llm-lint.toml", IGNORES)

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = LOUD\n")
        assert codes(await report(desk, uri)) == ["DEM101"]
        write(settings, f'{IGNORES}selekt = ["DEM101"]\n')
        told_of(desk, settings)
        assert codes(await report(desk, uri)) == ["DEM101"]
        found = await desk.next_published(settings.as_uri())
        assert [each.range.start.line for each in found] == [1]
        assert "did you mean `select`" in found[0].message
        assert len(desk.messages) == 1
        write(settings, "")
        told_of(desk, settings)
        assert codes(await report(desk, uri)) == ["DEM101", "DEM102"]
        assert await desk.next_published(settings.as_uri(), 2) == []

    async def report(desk: Desk, uri: str) -> types.RelatedFullDocumentDiagnosticReport:
        result = await desk.session.current(uri)
        assert result is not None
        items = [each for shown in result.reports.values() for each in shown]
        return types.RelatedFullDocumentDiagnosticReport(sorted(items, key=lambda each: str(each.code)))

    at_desk(workspace, work, capabilities=capabilities)


def test_a_rule_that_nobody_has_is_invalid_too(workspace: Path) -> None:
    settings = write(workspace / "llm-lint.toml", 'select = ["DEM999"]\n')

    async def work(desk: Desk) -> None:
        assert codes(await pulled(desk, open_text(desk, workspace / "a.py", "PLAIN = 1\n"))) == ["DEM102"]
        assert "DEM999" in (await desk.next_published(settings.as_uri()))[0].message

    at_desk(workspace, work)


@pytest.mark.parametrize("way_out", ["repaired", "deleted", "without our table"])
def test_what_was_wrong_with_settings_goes_when_it_is_set_right(way_out: str, workspace: Path) -> None:
    settings = write(workspace / "pyproject.toml", "[tool.llm-lint]\nnonsense = 1\n")
    other = write(workspace / "other" / "llm-lint.toml", "nonsense = 1\n")

    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "x = 1\n")
        await pulled(desk, uri)
        await pulled(desk, open_text(desk, workspace / "other" / "b.py", "x = 1\n"))
        assert desk.shown(settings.as_uri())
        if way_out == "deleted":
            settings.unlink()
        else:
            write(settings, "[tool.llm-lint]\n" if way_out == "repaired" else "[tool.other]\n")
        await pulled(desk, uri)
        assert not desk.shown(settings.as_uri())
        assert desk.shown(other.as_uri())

    at_desk(workspace, work)


def test_invalid_settings_are_told_of_once_however_much_is_typed(workspace: Path) -> None:
    write(workspace / "llm-lint.toml", "nonsense = 1\n")

    async def work(desk: Desk) -> tuple[int, int]:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        for version in range(2, 12):
            change_text(desk, uri, f"PLAIN = {version}\n", version)
            await pulled(desk, uri)
        return len(desk.messages), len(desk.published)

    assert at_desk(workspace, work) == (1, 1)


def test_each_folder_of_a_workspace_has_its_own_settings(workspace: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write(other / "llm-lint.toml", IGNORES)

    async def work(desk: Desk) -> None:
        folder = types.WorkspaceFolder(other.as_uri(), "other")
        event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
        did_change_workspace_folders.handle(desk.session, types.DidChangeWorkspaceFoldersParams(event))
        assert list(desk.session.folders) == [workspace, other]
        assert codes(await pulled(desk, open_text(desk, workspace / "a.py", "PLAIN = 1\n"))) == ["DEM102"]
        assert codes(await pulled(desk, open_text(desk, other / "a.py", "PLAIN = 1\n"))) == []
        event = types.WorkspaceFoldersChangeEvent(added=[], removed=[folder])
        did_change_workspace_folders.handle(desk.session, types.DidChangeWorkspaceFoldersParams(event))
        assert list(desk.session.folders) == [workspace]

    at_desk(workspace, work)


def test_a_file_outside_the_workspace_has_the_settings_around_it(workspace: Path, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "llm-lint.toml", IGNORES)

    async def work(desk: Desk) -> None:
        assert codes(await pulled(desk, open_text(desk, tmp_path / "elsewhere" / "a.py", "PLAIN = 1\n"))) == []

    at_desk(workspace, work)


def test_linting_can_be_switched_off_for_a_folder(workspace: Path) -> None:
    options: object = {"globalSettings": {}, "settings": [{"workspace": (workspace / "off").as_uri(), "enable": False}]}

    async def work(desk: Desk) -> None:
        assert codes(await pulled(desk, open_text(desk, workspace / "off" / "a.py", "PLAIN = 1\n"))) == []
        assert codes(await pulled(desk, open_text(desk, workspace / "a.py", "PLAIN = 1\n"))) == ["DEM102"]

    at_desk(workspace, work, options=options)


def test_options_that_change_count_at_once(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        assert len(await desk.next_published(uri)) == 1
        params = types.DidChangeConfigurationParams({"llmLint": {"enable": False}})
        did_change_configuration.handle(desk.session, params)
        assert await desk.next_published(uri, 2) == []

    at_desk(workspace, work, capabilities=PUSHED_TO)


def test_an_interpreter_that_is_not_there_is_told_of_and_passed_over(workspace: Path) -> None:
    async def work(desk: Desk) -> None:
        uri = open_text(desk, workspace / "a.py", "PLAIN = 1\n")
        assert codes(await pulled(desk, uri)) == ["DEM102"]
        await desk.until(lambda: any("missing/python" in message for message in desk.messages))

    at_desk(workspace, work, options={"interpreter": "missing/python"})


def test_options_may_be_nested_or_have_dots() -> None:
    problems: list[str] = []
    nested = read_options({"llmLint": {"codeLens": {"checkShapes": False}}}, problems)
    dotted = read_options({"globalSettings": {"codeLens.checkShapes": False}}, problems)
    assert nested == dotted
    assert not nested.default.check_shapes_lens
    assert not problems


@pytest.mark.parametrize("sent", [None, 7, [], "x", {}, {"llmLint": None}, {"settings": 3}, {"unknown": 1}])
def test_options_that_are_none_are_the_defaults(sent: object) -> None:
    assert read_options(sent, []) == Options()


@pytest.mark.parametrize(
    ("sent", "named"),
    [
        ({"enable": "yes"}, "`enable` must be true or false"),
        ({"interpreter": 3}, "`interpreter` must be a text"),
        ({"diagnosticMode": "all"}, "`diagnosticMode` is `all`"),
        ({"logLevel": "loud"}, "`logLevel` is `loud`"),
        ({"settings": [{"enable": True}]}, "names no `workspace`"),
    ],
)
def test_a_wrong_option_is_named(sent: object, named: str) -> None:
    problems: list[str] = []
    read_options(sent, problems)
    assert len(problems) == 1
    assert named in problems[0]
