"""The whole workspace in the problems of the editor, where its settings ask for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from lsprotocol import types

from llm_lsp.server.requests import workspace_diagnostic
from tests.server.desk import Desk, at_desk
from tests.server.opening import open_text, told_of, write
from tests.server.programs import FAULTY
from tests.server.wire import Wire

pytestmark = pytest.mark.usefixtures("demo_rules")

WHOLE = {"diagnosticMode": "workspace"}


@pytest.fixture
def project(workspace: Path) -> Path:
    (workspace / "inner").mkdir()
    (workspace / "a.py").write_text("PLAIN = 1\n", encoding="utf-8")
    (workspace / "inner" / "b.py").write_text("x = LOUD\n", encoding="utf-8")
    (workspace / "c.py").write_text("x = 1\n", encoding="utf-8")
    (workspace / "venv").mkdir()
    (workspace / "venv" / "d.py").write_text("PLAIN = 1\n", encoding="utf-8")
    return workspace


async def survey(
    desk: Desk, known: Mapping[str, str] | None = None, *, partial: str | None = None, progress: str | None = None
) -> dict[str, types.WorkspaceDocumentDiagnosticReport]:
    previous = [types.PreviousResultId(uri, value) for uri, value in (known or {}).items()]
    params = types.WorkspaceDiagnosticParams(previous, partial_result_token=partial, work_done_token=progress)
    report = await workspace_diagnostic.handle(desk.session, params)
    return {Path(each.uri).name: each for each in report.items}


def codes(report: types.WorkspaceDocumentDiagnosticReport) -> list[object]:
    assert isinstance(report, types.WorkspaceFullDocumentDiagnosticReport)
    return [each.code for each in report.items]


def test_every_file_is_reported_but_what_is_excluded_or_open(project: Path) -> None:
    async def work(desk: Desk) -> None:
        found = await survey(desk)
        assert {name: codes(report) for name, report in found.items()} == {
            "a.py": ["DEM102"],
            "b.py": ["DEM101"],
            "c.py": [],
        }
        open_text(desk, project / "a.py", "x = 1\n")
        assert sorted(await survey(desk)) == ["b.py", "c.py"]

    at_desk(project, work, options=WHOLE)


def test_what_the_client_knows_is_not_sent_again(project: Path) -> None:
    async def work(desk: Desk) -> None:
        first = await survey(desk)
        known = {report.uri: str(report.result_id) for report in first.values()}
        second = await survey(desk, known)
        assert all(isinstance(each, types.WorkspaceUnchangedDocumentDiagnosticReport) for each in second.values())
        (project / "a.py").write_text("x = 22\n", encoding="utf-8")
        third = await survey(desk, known)
        assert codes(third["a.py"]) == []
        assert isinstance(third["b.py"], types.WorkspaceUnchangedDocumentDiagnosticReport)

    at_desk(project, work, options=WHOLE)


def test_who_asks_again_waits_until_there_is_something_new(project: Path) -> None:
    async def work(desk: Desk) -> None:
        known = {report.uri: str(report.result_id) for report in (await survey(desk)).values()}
        desk.session.longest_wait = 600
        second = asyncio.ensure_future(survey(desk, known))
        await asyncio.sleep(0)
        third = asyncio.ensure_future(survey(desk, known))
        done, _ = await asyncio.wait([second, third], timeout=0.2)
        assert not done
        told_of(desk, write(project / "c.py", "PLAIN = 1\n"))
        assert codes((await second)["c.py"]) == ["DEM102"]
        assert codes((await third)["c.py"]) == ["DEM102"]

    at_desk(project, work, options=WHOLE)


def test_a_file_that_is_gone_is_cleared(project: Path) -> None:
    async def work(desk: Desk) -> None:
        known = {report.uri: str(report.result_id) for report in (await survey(desk)).values()}
        (project / "a.py").unlink()
        assert codes((await survey(desk, known))["a.py"]) == []

    at_desk(project, work, options=WHOLE)


def test_reports_come_in_parts_and_with_progress_where_the_client_asks(project: Path) -> None:
    async def work(desk: Desk) -> None:
        assert await survey(desk, partial="p", progress="w") == {}
        assert [token for token, _ in desk.partial] == ["p"] * 3
        kinds = [type(value) for token, value in desk.progress if token == "w"]
        assert kinds[0] is types.WorkDoneProgressBegin
        assert kinds[-1] is types.WorkDoneProgressEnd
        assert kinds.count(types.WorkDoneProgressReport) == 3

    at_desk(project, work, options=WHOLE)


def test_it_is_offered_only_where_it_is_asked_for(connect: Callable[..., Wire], workspace: Path) -> None:
    (workspace / "a.py").write_text(FAULTY, encoding="utf-8")
    assert connect().start()["diagnosticProvider"]["workspaceDiagnostics"] is False
    wire = connect()
    assert wire.start(options=WHOLE)["diagnosticProvider"]["workspaceDiagnostics"] is True
    report = wire.request("workspace/diagnostic", {"previousResultIds": []})
    assert [[each["code"] for each in item["items"]] for item in report["items"]] == [["LLM101"]]
    assert wire.shut_down() == 0
