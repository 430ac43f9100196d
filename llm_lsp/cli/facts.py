"""`llm-lint facts`: what the abstract interpreter knows of a file, call by call; a debugging aid for authors of rules."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from llm_lsp.cli.usage import UsageError
from llm_lsp.facts import YES, Call, Facts
from llm_lsp.project import Project


def run(options: Namespace) -> int:
    """Print the calls of a file, or of one of its lines; a UsageError where there is no such file or line."""
    path, line = _parsed(options.place)
    project = Project([path])
    file = project.file(path)
    source = project.source(file)
    if line is not None and not 1 <= line <= len(source.lines):
        raise UsageError(f"`{file.shown_path}` has {len(source.lines)} lines, there is no line {line}")
    facts = Facts(source, project.world_for(file))
    shown = 0
    for call in sorted(facts.every_call(), key=lambda call: call.place.range):
        where = call.place.range
        if call.place.path == source.path and (line is None or where.start.row <= line <= where.end.row):
            shown += 1
            print("\n".join(_described(call)))
    if not shown:
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


def _described(call: Call) -> Iterator[str]:
    start = call.place.range.start
    first_line = call.place.text.partition("\n")[0]
    yield f"{call.place.path}:{start.row}:{start.column} {first_line}"
    called = "an object" if call.name == "()" else call.name
    yield f"  called        {called}, in {' < '.join(call.function_names) or 'the module'}"
    yield f"  gradients     {call.gradients.value}, autocast {call.autocast.value}"
    if call.model is not None:
        yield f"  loaded as     {', '.join(f'`{name.value}`' for name in call.model.names)}"
    for state in ("dtype", "device"):
        choices = call.states(state)
        if choices:
            yield f"  {state:13} {' or '.join(str(choice.value) for choice in choices)}"
    if call.is_in_evaluation_mode is YES:
        yield "  mode          evaluation"
    yield f"  result        reaches a gradient: {call.reaches_gradient.value}"
