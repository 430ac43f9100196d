"""Programs whose comments say what is known there, in the words of `llm-lint facts`.

Each file of `tests/facts/` is about one thing that the facts must see, or must admit not to see. A line of `=` begins
a program of its own, a line of `-` with a name another file of that program (text that is no Python stands behind
`#|`). A mark

    print(name)  # fact: passed 'gpt2'

speaks of the longest call that begins on its row, or of what the words of the rules say of that row; several marks are
separated by `;`, what differs between ways to one call by `|`. `not reached` says that no call there ever runs, `untold
LABEL` that the words of the rules have nothing to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from llm_lsp.facts import Facts
from llm_lsp.facts.described import answers, described
from llm_lsp.project import Project

FOLDER = Path(__file__).parent / "facts"
MAIN = "program.py"
LEAST = 8
"""Marks about each thing."""

_PROGRAM = re.compile(r"# =+")
_FILE = re.compile(r"# -+ (\S+)$")
_MARK = "# fact: "


class Program(NamedTuple):
    """The files of one program, each with blank lines before it, so that rows are those of the data file."""

    files: tuple[tuple[str, str], ...]


class Mark(NamedTuple):
    """What a comment says of its row."""

    program: Program
    file: str
    row: int
    said: str


def programs(text: str) -> Iterator[Program]:
    files: dict[str, list[str]] = {}
    name = MAIN
    for row, line in enumerate(text.split("\n")):
        heading = _FILE.match(line)
        if _PROGRAM.match(line) and files:
            yield _program(files)
            files = {}
        name = heading[1] if heading else MAIN if _PROGRAM.match(line) else name
        content = files.setdefault(name, [""] * row if name.endswith(".py") else [])
        if name.endswith(".py"):
            content.append(line)
        elif not heading:
            content.append(line.removeprefix("#|").strip())
    yield _program(files)


def _program(files: dict[str, list[str]]) -> Program:
    return Program(tuple((name, "\n".join(lines) + "\n") for name, lines in files.items()))


def marks(text: str) -> Iterator[Mark]:
    for program in programs(text):
        yield from marks_of(program)


def marks_of(program: Program) -> Iterator[Mark]:
    for name, content in program.files:
        for row, line in enumerate(content.split("\n") if name.endswith(".py") else [], start=1):
            _, _, said = line.partition(_MARK)
            yield from (Mark(program, name, row, each.strip()) for each in said.split(";") if said)


Told = dict[int, dict[str, list[str]]]
"""What is told of each row: a label to what is known, on all ways there."""
DISTRIBUTIONS = ("transformers", "torch", "accelerate", "peft", "trl")


@cache
def known(program: Program, file: str) -> Told:
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        (root / "setup.cfg").touch()
        for name, text in program.files:
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        project = Project([root / file])
        one = project.file(root / file)
        source = project.source(one)
        world = project.world_for(one, source.installs)
        facts = Facts(source, world)
        found = _told(facts)
        facts.close()
        for distribution in DISTRIBUTIONS:
            version = world.version(distribution)
            said = "unknown" if version is None else version.specifier
            for mark in marks_of(program):
                _add(found.setdefault(mark.row, {}), f"version {distribution}", said)
    return found


def _told(facts: Facts) -> Told:
    found: Told = {}
    longest: dict[int, tuple[int, int, int]] = {}
    for call in facts.every_call():
        if call.place.path != facts.source.path:
            continue
        start, end = call.place.range.start, call.place.range.end
        size = (-start.column, end.row, end.column)
        if size > longest.get(start.row, (-10_000, 0, 0)):
            longest[start.row] = size
            found[start.row] = {}
        if size == longest[start.row]:
            for label, text in described(facts, call):
                _add(found[start.row], label, text)
    for place, (label, text) in answers(facts):
        if place.path == facts.source.path:
            _add(found.setdefault(place.range.start.row, {}), label, text)
    return found


def _add(told: dict[str, list[str]], label: str, text: str) -> None:
    if text not in told.setdefault(label, []):
        told[label].append(text)


def disagreement(mark: Mark) -> str | None:
    """What is known instead; None if the mark is right."""
    told = known(mark.program, mark.file).get(mark.row, {})
    if mark.said.startswith("untold "):
        answer = told.get(mark.said.removeprefix("untold "))
        return None if answer is None else f"it is told: {' | '.join(answer)}"
    if mark.said == "not reached":
        return f"called {told['called']}" if "called" in told else None
    label = max((label for label in told if mark.said.startswith(label + " ")), key=len, default=None)
    if label is None:
        return f"nothing of this is told; what is: {told}"
    is_right = _ways(mark.said[len(label) :].split("|")) == _ways(told[label])
    return None if is_right else f"{label} {' | '.join(told[label])}"


def _ways(said: Iterable[str]) -> frozenset[frozenset[str]]:
    """What may be on each way, in whatever order."""
    return frozenset(frozenset(one.strip().split(" or ")) for one in said)


@pytest.fixture(autouse=True)
def no_environment_is_active(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)


def all_marks() -> Iterator[tuple[str, Mark]]:
    for path in sorted(FOLDER.glob("*.py")):
        for mark in marks(path.read_text(encoding="utf-8")):
            yield path.stem, mark


@pytest.mark.parametrize(
    "mark", [pytest.param(mark, id=f"{name}:{mark.row} {mark.said}") for name, mark in all_marks()]
)
def test_what_a_mark_says_is_what_is_known(mark: Mark) -> None:
    assert disagreement(mark) is None


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in sorted(FOLDER.glob("*.py"))])
def test_each_thing_has_its_marks_and_a_third_of_them_admit_not_to_know(path: Path) -> None:
    said = [mark.said for mark in marks(path.read_text(encoding="utf-8"))]
    unknown = [mark for mark in said if "unknown" in mark or "from outside" in mark]
    assert len(said) >= LEAST
    assert 3 * len(unknown) >= len(said)


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("passed 'gpt2'", None),
        ("passed 'bert'", "passed 'gpt2'"),
        ("passed unknown", "passed 'gpt2'"),
        ("not reached", "called"),
        ("no such thing", "nothing of this is told"),
    ],
)
def test_a_wrong_mark_is_noticed(said: str, instead: str | None) -> None:
    (mark,) = marks(f"name = 'gpt2'\nprint(name)  # fact: {said}\n")
    found = disagreement(mark)
    assert found is None if instead is None else found is not None and found.startswith(instead)


def test_a_program_ends_where_the_next_begins_and_keeps_its_rows() -> None:
    text = "x = 1\n# ---- helper.py\ny = 2\n# ======== another\nprint(x)  # fact: passed unknown\n"
    first, second = programs(text)
    assert [name for name, _ in first.files] == [MAIN, "helper.py"]
    assert [(mark.file, mark.row, disagreement(mark)) for mark in marks(text)] == [(MAIN, 5, None)]
    assert len(second.files) == 1
