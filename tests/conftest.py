"""The command line, run in this process with the rules of `demo_pack`, which look for words."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from llm_lsp.cli import main

# The same texts in every run, however slow the machine is.
settings.register_profile(
    "tests", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

PACK = Path(__file__).resolve().with_name("demo_pack")


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def demo_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, the pack as the one that is installed, and no word from the environment."""
    monkeypatch.setattr(sys, "path", [str(PACK), *(path for path in sys.path if Path(path).name != "site-packages")])
    for name in ("NO_COLOR", "FORCE_COLOR", "LLM_LINT_OUTPUT_FORMAT", "VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    # A project of its own, whatever lies above.
    (folder / "setup.cfg").touch()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(demo_project: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Callable[..., Done]:
    """Runs one command; gives its exit code, what it printed, and what it said on stderr."""

    def run(*arguments: str) -> Done:
        code = main(arguments)
        out, err = capsysbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    return run
