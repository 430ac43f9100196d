"""Paths choose what is reported, never what is known: `check FILE` is that file's part of `check .`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.project import pathological_text, write_circle
from llm_lsp.cli import main
from llm_lsp.diagnostic import Diagnostic
from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import Facts
from llm_lsp.linter import lint
from llm_lsp.project import Project
from llm_lsp.registry import enabled, entries
from llm_lsp.source import Source
from llm_lsp.whole_program import Runs
from scripts import corpus
from scripts.mutants import MAKERS, mutants

ROOT = Path(__file__).resolve().parents[1]
REAL = (
    corpus.Package("simpletransformers", "0.70.8", ("package",)),
    corpus.Package("FlagEmbedding", "1.4.2", ("package",)),
)
"""Projects of other people whose modules import each other."""
PROGRAMS = ROOT / "tests" / "programs"


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


def linted(*paths: Path) -> list[Diagnostic]:
    """What is found in the files together, as the command line goes about it."""
    project, runs = Project(paths, isolated=True, cached=False), Runs()
    found: list[Diagnostic] = []
    for file in project.files():
        source, world = project.source(file), project.world_for(file)
        found += lint(source, world, file.settings, enabled(entries(), file.settings, file.path), runs=runs)
    runs.close()
    return found


def crosses_files(found: Diagnostic) -> bool:
    return any(related.location.path != found.location.path for related in found.related)


def compare_each(folder: Path) -> list[Diagnostic]:
    """Compare what is found in every file alone with its part of the whole; gives the whole."""
    whole = linted(folder)
    alone = [found for path in sorted(folder.rglob("*.py")) for found in linted(path)]
    assert sorted(map(repr, alone)) == sorted(map(repr, whole))
    return whole


@pytest.mark.parametrize("program", sorted(path.name for path in PROGRAMS.iterdir()))
def test_a_file_of_a_program_alone(program: str, tmp_path: Path) -> None:
    shutil.copytree(PROGRAMS / program, tmp_path, dirs_exist_ok=True)
    (tmp_path / "setup.cfg").touch()
    compare_each(tmp_path)


@pytest.mark.parametrize("package", REAL, ids=lambda package: package.name)
def test_a_file_of_a_real_project_alone(package: corpus.Package, tmp_path: Path) -> None:
    """With one thing taken away, or done wrong, in each file where that can be, and programs with faults beside it."""
    if not (corpus.CACHE / package.folder).is_dir():
        corpus.fetch(package)
    shutil.copytree(corpus.CACHE / package.folder / "package", tmp_path, dirs_exist_ok=True)
    (tmp_path / "setup.cfg").touch()
    planted = 0
    for path in sorted(tmp_path.rglob("*.py")):
        made = mutants(path, frozenset(MAKERS))
        if made:
            path.write_text(made[len(made) // 2].text, encoding="utf-8")
            planted += 1
    shutil.copytree(PROGRAMS, tmp_path / "programs")
    found = compare_each(tmp_path)
    assert planted > 5
    assert sum(map(crosses_files, found)) > 5


def test_a_pathological_file_ends_within_its_budget_with_what_is_known_so_far() -> None:
    facts = Facts(Source.from_text("a.py", pathological_text()), ExampleWorld({}, {}, {}))
    assert facts.records
    facts.close()
