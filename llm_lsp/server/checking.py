"""One document checked, with all that is shown of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from llm_lsp.builtin_codes import NOT_ANALYSED
from llm_lsp.collector import collect_if_needed
from llm_lsp.diagnostic import Diagnostic, Location, Position, Range
from llm_lsp.files import absolute
from llm_lsp.linter import Crash, lint
from llm_lsp.project import ProjectFile
from llm_lsp.remembering import Question
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.documents import Document, Documents
from llm_lsp.server.lenses import LensPlace, lens_places
from llm_lsp.server.projects import Projects, Unit
from llm_lsp.server.recording import RecordingWorld, digest, still_holds
from llm_lsp.server.reports import Reporter
from llm_lsp.settings import Settings
from llm_lsp.source import Source
from llm_lsp.whole_program import Runs
from llm_lsp.world import World

if TYPE_CHECKING:  # they bring the whole interpreter along, which an editor that starts does not wait for
    from llm_lsp.facts import Facts
    from llm_lsp.server.sights import ModelRun

__all__ = ["Checker", "Result", "linted"]


@dataclass(frozen=True, eq=False)
class Result:
    """What is known of one version of a document; neither its tree nor its facts are kept."""

    document: Document
    unit: Unit | None
    """None where the document is not linted."""
    reports: Mapping[str, tuple[types.Diagnostic, ...]]
    """By the URI of the text that they are shown in."""
    id: str
    """Another one for other diagnostics, and for other reasons to have them."""
    asked: Mapping[Question, str]
    stamps: Mapping[Question, str] = field(default_factory=dict[Question, str])
    files: frozenset[Path] = frozenset()
    """The other files of the project that it rests on."""
    installs: tuple[str, ...] = ()
    lenses: tuple[LensPlace, ...] = ()
    runs: tuple[ModelRun, ...] = ()
    """Where models are called."""

    @property
    def asks_for_importers(self) -> bool:
        """Whether it rests on which files import this one."""
        return any(question[0] in ("importers", "scripts") for question in self.asked)

    def imports_by_name(self, path: Path) -> bool:
        """Whether it rests on what a module of this name is, if there is one."""
        name = path.parent.name if path.stem == "__init__" else path.stem
        return any(question[0] == "module" and name in question[1].split(".") for question in self.asked)


class Checker:
    """Checks documents, one after the other; in the thread that lints.

    Args:
        projects: finds settings, rules and the world of a document.
        client: what the client can do.
        on_crash: told of rules that raise.
    """

    def __init__(self, projects: Projects, client: ClientCapabilities, on_crash: Callable[[Crash], None]) -> None:
        self._projects = projects
        self._documents: Documents = projects.documents
        self._client = client
        self._on_crash = on_crash
        self._runs = Runs()
        self._last: Source | None = None
        """What was checked last: somebody types in it."""

    def check(self, document: Document, before: Result | None, stop: Callable[[], bool]) -> Result:
        """The result for a document, which is `before` where nothing that it rests on has changed.

        Raises:
            Stopped: `stop` has become true.
        """
        unit = self._projects.unit(document) if document.is_python else None
        if unit is None:
            return Result(document, None, {text.uri: () for text in document.texts}, "", {})
        if before is not None and before.document is document and _is_same(before, unit):
            return before
        return self._checked(document, unit, before.lenses if before is not None else (), stop)

    def _checked(self, document: Document, unit: Unit, before: Iterable[LensPlace], stop: Callable[[], bool]) -> Result:
        from llm_lsp.server.sights import model_runs

        collect_if_needed()
        source = self._source(document, unit.file)
        world = RecordingWorld(unit.project.world_for(unit.file, source.installs), unit.project.stamp)
        runs: list[ModelRun] = []
        diagnostics = linted(
            source, unit, world, stop, self._on_crash, lambda facts: runs.extend(model_runs(facts)), self._runs
        )
        reporter = Reporter(document, source, self._documents, self._client)
        codes = "".join(rule.code for rule in unit.rules)
        answers = "".join(f"{question}{answer}" for question, answer in sorted(world.asked.items()))
        return Result(
            document,
            unit,
            reporter.reported(diagnostics),
            digest(source.data, repr(unit.file.settings), codes, answers),
            world.asked,
            world.stamps,
            frozenset(absolute(Path(path)) for path in world.files),
            source.installs,
            lens_places(source, before),
            tuple(runs),
        )

    def _source(self, document: Document, file: ProjectFile) -> Source:
        before = self._last if self._last is not None and self._last.path == file.shown_path else None
        self._last = document.source(file.shown_path, file.settings.max_source_size, before)
        return self._last


def linted(
    source: Source,
    unit: Unit,
    world: World,
    stop: Callable[[], bool],
    on_crash: Callable[[Crash], None],
    observe: Callable[[Facts], None] | None = None,
    runs: Runs | None = None,
) -> list[Diagnostic]:
    """The diagnostics of a text; a failure of llm-lint itself is one of them, as on the command line."""
    from llm_lsp.facts import Stopped

    try:
        settings = unit.file.settings
        return lint(source, world, settings, unit.rules, stop, on_crash=on_crash, observe=observe, runs=runs)
    except Stopped:
        raise
    except Exception as error:  # noqa: BLE001 - whatever it is, the session goes on
        from traceback import format_exception

        on_crash(Crash(source.path, None, "".join(format_exception(type(error), error, error.__traceback__))))
        message = f"llm-lint failed on this file: {type(error).__name__}: {error}"
        start = Position(1, 1)
        own = NOT_ANALYSED
        location = Location(source.path, None, Range(start, start))
        return [Diagnostic(own.code, own.name, own.severity, message, location)]


def _is_same(before: Result, unit: Unit) -> bool:
    if (
        before.unit is None
        or before.unit.rules != unit.rules
        or not _equal(before.unit.file.settings, unit.file.settings)
    ):
        return False
    asks_for_files = any(question[0] in ("module", "importers", "scripts") for question in before.asked)
    if before.unit.project is unit.project and not asks_for_files:
        return True  # what a project has said of versions and checkpoints it says again
    world = unit.project.world_for(unit.file, before.installs)
    return still_holds(before.asked, before.stamps, world, unit.project.stamp)


def _equal(one: Settings, other: Settings) -> bool:
    return one is other or one == other
