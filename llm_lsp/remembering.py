"""A world that remembers what was asked of it, so that one can tell whether an answer would be another now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from llm_lsp.knowledge.checkpoints import Checkpoint
    from llm_lsp.source import Source
    from llm_lsp.versions import Requirement
    from llm_lsp.world import World

__all__ = ["Question", "RememberingWorld"]

Question = tuple[str, ...]
"""Which method was asked, and with what."""

Mark = TypeVar("Mark")


class RememberingWorld(Generic[Mark]):
    """Answers as another world does. What tells one answer from another is for those to say who compare them.

    Args:
        world: the other one.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.asked: dict[Question, Mark] = {}
        """What was asked, with the mark of the answer."""

    def mark(self, answer: Requirement | Checkpoint | None) -> Mark:
        """What is another one for another answer."""
        raise NotImplementedError

    def mark_files(self, answer: Sequence[str | bytes] | None) -> Mark:
        """The same, of the paths of files with what they hold."""
        raise NotImplementedError

    def before_asking(self, question: Question) -> None:
        """Called before a question about files is answered."""

    def found(self, source: Source) -> Source:
        """A file that an answer names, or what stands for it."""
        return source

    def again(self, question: Question) -> Mark:
        """The mark of what the world answers now."""
        match question:
            case ("version", name):
                self.version(name)
            case ("checkpoint", name):
                self.checkpoint(name)
            case ("importers", path, *names):
                self.importers(path, names)
            case ("scripts", path):
                self.scripts(path)
            case ("module", name, importer):
                self.module(name, importer)
            case ("installed", name, importer):
                self.installed(name, importer)
            case ("definition", module, name):
                self.definition(module, name)
            case _:
                raise AssertionError(question)
        return self.asked[question]

    # ------------------------------------------------------------ as `World` has them

    def version(self, distribution: str) -> Requirement | None:
        """As the world says."""
        answer = self.world.version(distribution)
        self.asked["version", distribution] = self.mark(answer)
        return answer

    def checkpoint(self, name: str) -> Checkpoint | None:
        """As the world says."""
        answer = self.world.checkpoint(name)
        # Asked again and again, and long to write down.
        if ("checkpoint", name) not in self.asked:
            self.asked["checkpoint", name] = self.mark(answer)
        return answer

    def importers(self, path: str, names: Iterable[str]) -> list[Source]:
        """As the world says."""
        question = ("importers", path, *sorted(names))
        self.before_asking(question)
        return self._of_files(question, self.world.importers(path, question[2:])) or []

    def scripts(self, path: str) -> list[Source] | None:
        """As the world says."""
        self.before_asking(("scripts", path))
        return self._of_files(("scripts", path), self.world.scripts(path))

    def module(self, name: str, importer: str) -> Source | None:
        """As the world says."""
        self.before_asking(("module", name, importer))
        return self._of_file(("module", name, importer), self.world.module(name, importer))

    def installed(self, name: str, importer: str) -> Source | None:
        """As the world says."""
        return self._of_file(("installed", name, importer), self.world.installed(name, importer))

    def definition(self, module: str, name: str) -> tuple[Source, str] | None:
        """As the world says."""
        question, answer = ("definition", module, name), self.world.definition(module, name)
        if answer is None:
            self.asked[question] = self.mark_files(None)
            return None
        source, defined = self.found(answer[0]), answer[1]
        self.asked[question] = self.mark_files((source.path, source.data, defined))
        return source, defined

    def _of_file(self, question: Question, answer: Source | None) -> Source | None:
        source = None if answer is None else self.found(answer)
        self.asked[question] = self.mark_files(None if source is None else (source.path, source.data))
        return source

    def _of_files(self, question: Question, answer: list[Source] | None) -> list[Source] | None:
        sources = None if answer is None else [self.found(source) for source in answer]
        parts = None if sources is None else [part for source in sources for part in (source.path, source.data)]
        self.asked[question] = self.mark_files(parts)
        return sources
