"""Sessions with the server, and programs to open in them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.server.wire import Wire

PACK = Path(__file__).resolve().parents[1] / "demo_pack"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder that is a project of its own, whatever lies above."""
    folder = tmp_path / "work space"
    folder.mkdir()
    (folder / "setup.cfg").touch()
    return folder


@pytest.fixture
def connect(workspace: Path) -> Iterator[Callable[..., Wire]]:
    """Starts the server as editors do; it is ended after the test, whatever happens in it."""
    open_wires: list[Wire] = []

    def start(*arguments: str, folder: Path = workspace) -> Wire:
        wire = Wire(folder, *arguments)
        open_wires.append(wire)
        return wire

    yield start
    for wire in open_wires:
        wire.close()


@pytest.fixture
def demo_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules that look for words, beside our own."""
    monkeypatch.setattr(sys, "path", [str(PACK), *sys.path])
