"""Linting in this process, for scripts that ask about many variants of a file.

Nothing is declared about the versions of libraries: programs are judged by the newest release that llm-lint knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from llm_lsp import registry
from llm_lsp.linter import Crash, lint
from llm_lsp.project import Project
from llm_lsp.settings import Settings
from llm_lsp.source import Source
from llm_lsp.whole_program import Runs

if TYPE_CHECKING:
    from llm_lsp.diagnostic import Diagnostic
    from llm_lsp.knowledge.checkpoints import Checkpoint
    from llm_lsp.versions import Requirement
    from llm_lsp.world import World

__all__ = ["Linter"]

PACK = "llm_lsp_rules"


class _Undeclared:
    """A world in which no version of anything is said; the rest as the project knows it."""

    def __init__(self, world: World) -> None:
        self._world = world

    def version(self, distribution: str) -> Requirement | None:
        del distribution
        return None

    def checkpoint(self, name: str) -> Checkpoint | None:
        return self._world.checkpoint(name)

    def importers(self, path: str, names: Iterable[str]) -> list[Source]:
        return self._world.importers(path, names)

    def scripts(self, path: str) -> list[Source] | None:
        return self._world.scripts(path)

    def module(self, name: str, importer: str) -> Source | None:
        return self._world.module(name, importer)

    def installed(self, name: str, importer: str) -> Source | None:
        return self._world.installed(name, importer)

    def definition(self, module: str, name: str) -> tuple[Source, str] | None:
        return self._world.definition(module, name)


class Linter:
    """Runs the built-in rules, or some of them, on files and on texts that take a file's place.

    Args:
        codes: of the rules that run; None for those that are on by default.
    """

    def __init__(self, codes: Collection[str] | None = None) -> None:
        self._project = Project(isolated=True)
        self._settings = Settings(root=Path.cwd())
        self._rules = [rule for rule in registry.scan(PACK) if (rule.default if codes is None else rule.code in codes)]
        self._runs = Runs()
        self.crashes: list[Crash] = []
        """Of all runs so far."""

    @property
    def codes(self) -> frozenset[str]:
        """Of the rules that run."""
        return frozenset(rule.code for rule in self._rules)

    def source(self, path: Path, text: str | None = None) -> Source:
        """A file, with the text that it has or with another one."""
        file = self._project.file(path)
        data = path.read_bytes() if text is None else text.encode()
        return Source.from_bytes(file.shown_path, data, max_size=file.settings.max_source_size)

    def diagnostics(self, path: Path, text: str | None = None) -> list[Diagnostic]:
        """What the rules say of a file, or of a text in its place."""
        source = self.source(path, text)
        world = _Undeclared(self._project.world_for(self._project.file(path), source.installs))
        return lint(source, world, self._settings, self._rules, on_crash=self.crashes.append, runs=self._runs)
