"""The example project has the faults, its repaired twin has none of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CODES = ("LLM101", "LLM107", "LLM301", "LLM302", "LLM303", "LLM501")


def lint(folder: str) -> list[dict[str, Any]]:
    """The diagnostics that a person gets, of whatever severity."""
    done = subprocess.run(
        [sys.executable, "-m", "llm_lsp", "check", "--output-format", "json", f"examples/{folder}"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode in (0, 1), done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def faults() -> list[dict[str, Any]]:
    return lint("support-bot")


@pytest.mark.parametrize("code", CODES)
def test_each_of_the_first_rules_finds_something_in_the_example(code: str, faults: list[dict[str, Any]]) -> None:
    assert code in {fault["code"] for fault in faults}


def test_the_notebook_of_the_example_has_faults_too(faults: list[dict[str, Any]]) -> None:
    assert {fault["code"] for fault in faults if fault["filename"].endswith(".ipynb")} >= {"LLM301", "LLM501"}


def test_nothing_is_reported_in_the_repaired_twin() -> None:
    assert lint("support-bot-fixed") == []


def test_the_twins_have_the_same_files() -> None:
    names = [
        {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix in (".py", ".ipynb", ".toml")}
        for folder in (ROOT / "examples" / "support-bot", ROOT / "examples" / "support-bot-fixed")
    ]
    assert names[0] == names[1]
