"""`llm-lint probe`: runs the user's program to find out what only running it can tell."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from llm_lsp.cli.usage import UsageError
from llm_lsp.files import absolute
from llm_lsp.probe import client
from llm_lsp.probe.client import Probe
from llm_lsp.probe.interpreter import find_interpreter, interpreter_at
from llm_lsp.probe.protocol import Done, Event, Output, Progress, Request
from llm_lsp.project import Project

if TYPE_CHECKING:
    from rich.console import Console

EXIT_CODES = {"ok": 0, "user_error": 1}
"""Every other outcome is 2: nothing is known of the program."""

_PATIENCE = 5.0
"""Seconds that the worker has to end its runs."""


def run(options: Namespace) -> int:
    """Check the shapes of a file's module classes, or of one, and print what comes of it."""
    file, target = _parsed(options.place)
    project = Project([file])
    if not options.json and find_spec("rich") is None:
        raise UsageError("the table needs rich: `pip install rich`, or ask for `--json`")
    wanted = Path(options.python) if options.python else project.file(file).settings.python
    root = project.root_of(file.parent)
    folders = (file.parent, project.settings_in(file.parent).root, root)
    python = interpreter_at(wanted, os.environ) if wanted is not None else find_interpreter(folders, os.environ)
    request = Request(file, target, root, options.args, options.time_limit, options.memory_limit, cuda=options.cuda)
    done = _asked_quietly(python, request) if options.json else _asked_with_progress(python, request)
    if options.json:
        print(json.dumps(done.as_message(), indent=2))
    else:
        from llm_lsp.cli.probe_table import print_outcome

        print_outcome(done, _console())
    return EXIT_CODES.get(done.status, 2)


def _parsed(place: str) -> tuple[Path, str | None]:
    name, colon, target = place.rpartition(":")
    is_class = bool(colon and name) and target.isidentifier()
    path = Path(name if is_class else place)
    if not path.is_file():
        raise UsageError(f"`{path}` is not a file: name one, and a class of it after a colon, as in `model.py:GPT`")
    if path.suffix != ".py":
        raise UsageError(f"`{path}` is no Python file, and only those can be run")
    return absolute(path), target if is_class else None


async def _ask(python: Path, request: Request, on_event: Callable[[Event], None]) -> Done:
    probe = Probe(python, request.workspace, program=client.WORKER)
    try:
        return await probe.run(request, on_event)
    finally:
        probe.close(_PATIENCE)


def _asked_quietly(python: Path, request: Request) -> Done:
    return asyncio.run(_ask(python, request, lambda _: None))


def _asked_with_progress(python: Path, request: Request) -> Done:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("starting", total=None)

        def show(event: Event) -> None:
            if isinstance(event, Progress):
                bar.update(
                    task, description=_STAGES.get(event.stage, event.stage), completed=event.done, total=event.total
                )
            elif isinstance(event, Output):
                bar.console.print(Text(event.text, style="dim"), end="")

        return asyncio.run(_ask(python, request, show))


_STAGES = {
    "start": "importing torch",
    "import": "importing your file",
    "construct": "making the model",
    "forward": "running it",
}


def _console() -> Console:
    from rich.console import Console

    # Where nobody looks at it as it comes, no line is broken.
    return Console() if sys.stdout.isatty() else Console(width=200)
