"""Checks shapes in children of one warmed process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVER = Path(__file__).with_name("shape_server.py")


class Shapes:
    """Asks the warmed process."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            encoding="utf-8",
        )

    def ask(self, request: dict[str, object]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the process of the probe has ended"
        found: dict[str, Any] = json.loads(line)
        assert "crashed" not in found
        return found

    def outcome(self, path: Path, target: str | None = None, args: str | None = None) -> dict[str, Any]:
        request: dict[str, object] = {
            "id": 1,
            "op": "shape",
            "file": str(path),
            "target": target,
            "workspace": None,
            "args": args,
        }
        found: dict[str, Any] = self.ask(request)["outcome"]
        return found

    def close(self) -> None:
        self.process.communicate(timeout=60)


@pytest.fixture(scope="session")
def shapes() -> Iterator[Shapes]:
    if not hasattr(os, "fork"):
        pytest.skip("no fork here: each check would load torch anew")
    made = Shapes()
    yield made
    made.close()


@pytest.fixture
def check(shapes: Shapes, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Checks a program given as text; the outcome."""

    def check(text: str, target: str | None = None, args: str | None = None) -> dict[str, Any]:
        file = tmp_path / "model.py"
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return shapes.outcome(file, target, args)

    return check
