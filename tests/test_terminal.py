"""What a terminal sees; a pseudo-terminal stands for it."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_lsp.cli import terminal

ROOT = Path(__file__).resolve().parents[1]
PACK = Path(__file__).resolve().with_name("demo_pack")
RED = b"\x1b[1;31m"


def on_terminal(folder: Path, **environment: str) -> bytes:
    """The bytes that one run writes to a terminal."""
    pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals that Python can open")
    mine, theirs = pty.openpty()
    variables = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    variables |= {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "rules"), str(PACK)]), "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "llm_lsp", "check"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=variables | environment,
    )
    os.close(theirs)
    written = b"".join(chunks(mine))
    assert process.wait() == 1, written
    return written


def chunks(handle: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(handle, 65536)
        except OSError:  # Linux reports the closed other end so
            break
        if not chunk:
            break
        yield chunk
    os.close(handle)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text("LOUD\n", encoding="utf-8")
    return tmp_path


def test_a_terminal_gets_colours_and_a_short_run_no_progress(folder: Path) -> None:
    written = on_terminal(folder)
    assert RED + b"error" in written
    assert b"files" not in written


def test_no_color_is_honoured_on_a_terminal_even_against_force_color(folder: Path) -> None:
    assert b"\x1b" not in on_terminal(folder, NO_COLOR="1", FORCE_COLOR="1")


def test_an_empty_no_color_counts_as_none(folder: Path) -> None:
    assert RED in on_terminal(folder, NO_COLOR="")


def test_a_dumb_terminal_gets_no_colours(folder: Path) -> None:
    assert b"\x1b" not in on_terminal(folder, TERM="dumb")


class Stream(io.StringIO):
    """Takes text as a terminal or as a pipe."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def test_force_color_colours_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert not terminal.paint_for(Stream(terminal=False)).colour
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert terminal.paint_for(Stream(terminal=False)).colour


class Clock:
    """Moves on by a step each time it is looked at."""

    def __init__(self, step: float) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def progress_of(monkeypatch: pytest.MonkeyPatch, *, step: float, terminal_: bool = True, show: bool = True) -> str:
    stream = Stream(terminal=terminal_)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("time.monotonic", Clock(step))
    assert list(terminal.progress("abcdefghij", 10, "files", show=show)) == list("abcdefghij")
    return stream.getvalue()


def test_a_terminal_that_waits_sees_a_bar_which_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = progress_of(monkeypatch, step=0.5)
    assert "\r[######                        ] 2/10 files" in shown
    assert shown.endswith("\r\033[K")


def test_there_is_no_bar_where_nobody_waits_or_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert progress_of(monkeypatch, step=0.01) == ""
    assert progress_of(monkeypatch, step=0.5, terminal_=False) == ""
    assert progress_of(monkeypatch, step=0.5, show=False) == ""


def test_the_bar_goes_away_when_the_work_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("time.monotonic", Clock(0.6))
    items = terminal.progress("abcdefghij", 10, "files", show=True)
    for _ in range(5):
        next(items)
    items.close()
    assert stream.getvalue().endswith("\r\033[K")
