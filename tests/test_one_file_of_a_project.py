"""Paths choose what is reported, never what is known: `check FILE` is that file's part of `check .`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.project import pathological_text, write_circle
from llm_lsp.cli import main
from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import Facts
from llm_lsp.source import Source

ROOT = Path(__file__).resolve().parents[1]


def found(capsysbinary: pytest.CaptureFixture[bytes], *paths: str) -> list[Any]:
    main(["check", "--output-format", "json", "--select", "ALL", "--no-cache", *paths])
    output: list[Any] = json.loads(capsysbinary.readouterr().out)
    return output


def check_each(folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> int:
    """Compare every file alone with its part of the whole; gives the number of diagnostics."""
    monkeypatch.chdir(folder)
    whole = [json.dumps(each, sort_keys=True) for each in found(capsysbinary, ".")]
    alone: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".ipynb"):
            name = path.relative_to(folder).as_posix()
            alone += (json.dumps(each, sort_keys=True) for each in found(capsysbinary, name))
    assert sorted(alone) == sorted(whole)
    return len(whole)


@pytest.mark.parametrize("example", sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir()))
def test_a_file_of_an_example_alone(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    folder = tmp_path / example
    shutil.copytree(ROOT / "examples" / example, folder)
    check_each(folder, monkeypatch, capsysbinary)


def test_a_file_of_a_circle_of_imports_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    write_circle(tmp_path, 5)
    assert check_each(tmp_path, monkeypatch, capsysbinary) > 0


def test_a_pathological_file_ends_within_its_budget_with_what_is_known_so_far() -> None:
    facts = Facts(Source.from_text("a.py", pathological_text()), ExampleWorld({}, {}, {}))
    assert facts.records
    facts.close()
