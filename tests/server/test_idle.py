"""Nobody waits for the garbage collector: it runs when nobody says anything, and has nothing to find."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from llm_lsp.server import app
from llm_lsp.server.idle import Idle
from llm_lsp.server.requests import hover
from tests.server.desk import Desk, at_desk
from tests.server.opening import change_text, open_text, pulled
from tests.server.programs import CLEAN, FAULTY


class Clock:
    """A loop whose time passes when it is told."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, Callable[[], object]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, work: Callable[[Clock], object], loop: Clock) -> object:
        self.timers.append((self.now + delay, lambda: work(loop)))
        return self.timers[-1]

    def wait(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [timer for timer in self.timers if timer[0] <= end]:
            self.timers.remove(due[0])
            self.now, work = due[0]
            work()
        self.now = end


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: made)
    return made


def test_work_waits_until_the_client_has_been_silent(clock: Clock) -> None:
    done: list[float] = []
    waiting = Idle(lambda: done.append(clock.now), pause=2)
    for _ in range(10):
        waiting.heard()
        assert len(clock.timers) == 1
        clock.wait(1.5)
    assert done == []
    clock.wait(100)
    assert done == [15.5]
    waiting.heard()
    clock.wait(100)
    assert done == [15.5, 117]


def test_the_collector_is_off_while_a_client_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would run between a check and its answer."""
    seen: list[bool] = []

    async def run(*_: object) -> int:
        seen.append(gc.isenabled())
        return 0

    def opened(*_: object) -> None: ...

    monkeypatch.setattr(app.App, "run", run)
    monkeypatch.setattr(app, "claim_stdout", lambda: None)
    monkeypatch.setattr(os, "dup", int)
    monkeypatch.setattr(os, "fdopen", opened)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    was_on = gc.isenabled()
    gc.disable()  # as `cli/server.py` does
    try:
        app.serve_stdio("error")
    finally:
        (gc.enable if was_on else gc.disable)()
    assert seen == [False]


def test_what_an_editor_does_leaves_no_garbage_behind(workspace: Path) -> None:
    """Checks that are broken off too: each would leave a tree and all that is known of it."""

    async def work(desk: Desk) -> int:
        uri = open_text(desk, workspace / "a.py", FAULTY)
        for version in range(2, 30):
            change_text(desk, uri, FAULTY if version % 2 else CLEAN, version)
            outdated = asyncio.ensure_future(pulled(desk, uri))
            await asyncio.sleep(0)
            change_text(desk, uri, f"{FAULTY}\nx = {version}\n", version + 100)
            await pulled(desk, uri)
            change_text(desk, uri, f"{FAULTY}\nx = ({version}\ny = 1\n", version + 200)
            await pulled(desk, uri)
            await outdated
            where = types.TextDocumentIdentifier(uri)
            await hover.handle(desk.session, types.HoverParams(where, types.Position(2, 50)))
            if version == 10:
                gc.collect()
                gc.disable()
        return gc.collect()

    try:
        assert at_desk(workspace, work) == 0
    finally:
        gc.enable()


def test_garbage_is_collected_after_the_checks(workspace: Path) -> None:
    phases: list[str] = []

    def seen(phase: str, _: object) -> None:
        phases.append(phase)

    async def work(desk: Desk) -> None:
        await pulled(desk, open_text(desk, workspace / "a.py", FAULTY))
        gc.disable()
        gc.callbacks.append(seen)
        desk.session.collect_garbage()
        await desk.session.in_worker(lambda: None)
        assert phases == ["start", "stop"]
        desk.session.end()
        desk.session.collect_garbage()

    try:
        at_desk(workspace, work)
    finally:
        gc.callbacks.remove(seen)
        gc.enable()
