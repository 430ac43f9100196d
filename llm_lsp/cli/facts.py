"""`llm-lint facts`: what the abstract interpreter knows of a file, call by call; a debugging aid for authors of rules."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from llm_lsp.cli.usage import UsageError
from llm_lsp.facts import Call, Facts
from llm_lsp.facts.described import Description, answers, described
from llm_lsp.facts.place import Place
from llm_lsp.project import Project


def run(options: Namespace) -> int:
    """Print what is known of a file, or of one of its lines; a UsageError where there is no such file or line."""
    path, line = _parsed(options.place)
    project = Project([path])
    file = project.file(path)
    source = project.source(file)
    if line is not None and not 1 <= line <= len(source.lines):
        raise UsageError(f"`{file.shown_path}` has {len(source.lines)} lines, there is no line {line}")
    facts = Facts(source, project.world_for(file))

    def is_asked_for(place: Place) -> bool:
        first, last = place.range.start.row, place.range.end.row
        return place.path == source.path and (line is None or first <= line <= last)

    calls = [call for call in facts.every_call() if is_asked_for(call.place)]
    for call in sorted(calls, key=lambda call: call.place.range):
        print("\n".join(_shown(facts, call)))
    told = [(place, what) for place, what in answers(facts) if is_asked_for(place)]
    for place, what in told:
        print(f"{place.path}:{place.range.start.row} {_row(what).strip()}")
    if not calls and not told:
        print("no call is seen there")
    facts.close()
    return 0


def _parsed(place: str) -> tuple[Path, int | None]:
    name, _, line = place.rpartition(":")
    is_line = bool(name) and line.isdigit()
    path = Path(name if is_line else place)
    if not path.is_file():
        raise UsageError(f"`{path}` is not a file")
    return path, int(line) if is_line else None


def _shown(facts: Facts, call: Call) -> Iterator[str]:
    start = call.place.range.start
    first_line = call.place.text.partition("\n")[0]
    yield f"{call.place.path}:{start.row}:{start.column} {first_line}"
    yield from map(_row, described(facts, call))


def _row(what: Description) -> str:
    label, known = what
    return f"  {label:22} {known}"
