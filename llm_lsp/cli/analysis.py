"""One file after the other: read, linted, and repaired where that is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from llm_lsp.builtin_codes import BUILTIN_CODES, NOT_ANALYSED
from llm_lsp.cli.selection import Selection
from llm_lsp.diagnostic import Diagnostic, Location, Position, Range
from llm_lsp.linter import Crash, lint
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.project import Project, ProjectFile
from llm_lsp.source import Source
from llm_lsp.whole_program import Runs

__all__ = ["Analysis", "Outcome"]

_OWN_CODES = frozenset(code.code for code in BUILTIN_CODES)
"""Nobody suppresses that a file can't be read, and a suppression without use is taken away instead."""


class Outcome(NamedTuple):
    """What became of one file."""

    diagnostics: Sequence[Diagnostic]
    source: Source | None
    """The text that the diagnostics speak of; None where the file could not be read."""
    before: Source | None = None
    """The text before it was repaired; None where nothing is to change."""
    changes: Mapping[str, int] = MappingProxyType({})
    """How often each code was repaired, or suppressed."""
    failure: str | None = None
    """Why a file that should have been repaired was not."""


class Analysis:
    """Lints files of a project; what fails in one file is reported there and stops no other.

    A `source` is the text of the file where that is not what lies on the disk. Nothing is written.
    """

    def __init__(self, project: Project, selection: Selection, *, verbose: bool) -> None:
        self._project = project
        self._selection = selection
        self._verbose = verbose
        self._runs = Runs()

    def check(self, file: ProjectFile, source: Source | None) -> Outcome:
        """Lint a file."""
        return self._guarded(file, source, lambda text: self._linted(file, text))

    def fix(self, file: ProjectFile, source: Source | None, *, unsafe: bool) -> Outcome:
        """Lint a file and repair what can be repaired."""
        return self._guarded(file, source, lambda text: self._fixed(file, text, unsafe=unsafe))

    def suppress(self, file: ProjectFile, source: Source | None) -> Outcome:
        """Lint a file and suppress what is found with comments."""
        return self._guarded(file, source, lambda text: self._suppressed(file, text))

    def _guarded(self, file: ProjectFile, source: Source | None, work: Callable[[Source], Outcome]) -> Outcome:
        try:
            return work(source or self._project.source(file))
        except OSError as error:
            return self._given_up(file, f"the file can't be read: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files go on
            from traceback import format_exception

            self._tell(Crash(file.shown_path, None, "".join(format_exception(type(error), error, error.__traceback__))))
            return self._given_up(file, f"llm-lint failed on this file: {type(error).__name__}: {error}")

    def _linted(self, file: ProjectFile, source: Source) -> Outcome:
        return Outcome(self._lint(file, source), source)

    def _fixed(self, file: ProjectFile, source: Source, *, unsafe: bool) -> Outcome:
        from llm_lsp.fixes import FixesDoNotSettle, fix

        try:
            done = fix(source, lambda current: self._lint(file, current), unsafe=unsafe)
        except FixesDoNotSettle as error:
            return self._linted(file, source)._replace(failure=str(error))
        if done.source.data == source.data:
            return Outcome(done.diagnostics, source)
        return Outcome(done.diagnostics, done.source, source, done.applied)

    def _suppressed(self, file: ProjectFile, source: Source) -> Outcome:
        from llm_lsp.suppression import noqa_edits

        found = self._lint(file, source)
        places = [(_module_row(source, one.location), one.code) for one in found if one.code not in _OWN_CODES]
        edits = [] if source.problems else noqa_edits(source, places)
        if not edits:
            return Outcome(found, source)
        data = source.with_edits(edits)
        after = Source.from_bytes(
            source.path, data, max_size=len(data), kind="notebook" if source.is_notebook else "python"
        )
        left = self._lint(file, after)
        if after.problems:
            return Outcome(
                found, source, failure=f"{source.path}: `# noqa` comments would break the file; none was added"
            )
        return Outcome(left, after, source, _fewer(found, left))

    def _lint(self, file: ProjectFile, source: Source) -> list[Diagnostic]:
        world = self._project.world_for(file, source.installs)
        settings = self._selection.settings_of(file)
        rules = self._selection.rules_for(file)
        return lint(source, world, settings, rules, on_crash=self._tell, runs=self._runs)

    def _given_up(self, file: ProjectFile, message: str) -> Outcome:
        if all(rule.code != NOT_ANALYSED.code for rule in self._selection.rules_for(file)):
            return Outcome([], None)
        start = Position(1, 1)
        location = Location(file.shown_path, None, Range(start, start))
        own = NOT_ANALYSED
        return Outcome([Diagnostic(own.code, own.name, own.severity, message, location)], None)

    def _tell(self, crash: Crash) -> None:
        if self._verbose:
            print(f"{crash.path}: {crash.traceback}", file=sys.stderr)


def _fewer(before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> dict[str, int]:
    """How many diagnostics of each code are gone."""
    counts: dict[str, int] = {}
    for sign, diagnostics in ((1, before), (-1, after)):
        for diagnostic in diagnostics:
            counts[diagnostic.code] = counts.get(diagnostic.code, 0) + sign
    return {code: number for code, number in counts.items() if number > 0}


def _module_row(source: Source, location: Location) -> int:
    first = next((cell.first_row for cell in source.cells if cell.number == location.cell), 1)
    return first + location.range.start.row - 1
