"""A world that remembers what was asked of it, so that one can tell whether an answer would be another now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from llm_lsp.world import World

if TYPE_CHECKING:
    from llm_lsp.knowledge.checkpoints import Checkpoint
    from llm_lsp.source import Source
    from llm_lsp.versions import Requirement

__all__ = ["Question", "RecordingWorld", "Stamp", "digest", "still_holds"]

Question = tuple[str, ...]
"""Which method was asked, and with what."""


Stamp = Callable[[Question], str]
"""Another text as soon as the answer may be another one, without reading any file; empty where that can't be told."""


class RecordingWorld:
    """Answers as another world does.

    Args:
        world: the other one.
        stamp: what it says of a question is kept beside the answer.
    """

    def __init__(self, world: World, stamp: Stamp) -> None:
        self._world = world
        self._stamp = stamp
        self.asked: dict[Question, str] = {}
        """What was answered, as a digest."""
        self.stamps: dict[Question, str] = {}
        """Taken before the answer, so that a change between the two is noticed later."""
        self.files: set[str] = set()
        """The files of the modules that were found, as `Source.path` names them."""

    def version(self, distribution: str) -> Requirement | None:
        """As the world says."""
        answer = self._world.version(distribution)
        self.asked["version", distribution] = digest(repr(answer))
        return answer

    def checkpoint(self, name: str) -> Checkpoint | None:
        """As the world says."""
        answer = self._world.checkpoint(name)
        # Asked again and again, and long to write down.
        if ("checkpoint", name) not in self.asked:
            self.asked["checkpoint", name] = digest(repr(answer))
        return answer

    def importers(self, path: str, names: Iterable[str]) -> list[Source]:
        """As the world says."""
        question = ("importers", path, *sorted(names))
        self.stamps[question] = self._stamp(question)
        answer = self._world.importers(path, question[2:])
        self.asked[question] = digest(*(part for source in answer for part in (source.path, source.data)))
        self.files.update(source.path for source in answer)
        return answer

    def scripts(self, path: str) -> list[Source] | None:
        """As the world says."""
        question = ("scripts", path)
        self.stamps[question] = self._stamp(question)
        answer = self._world.scripts(path)
        self.asked[question] = "" if answer is None else digest(*(part for s in answer for part in (s.path, s.data)))
        self.files.update(source.path for source in answer or ())
        return answer

    def module(self, name: str, importer: str) -> Source | None:
        """As the world says."""
        self.stamps["module", name, importer] = self._stamp(("module", name, importer))
        answer = self._world.module(name, importer)
        self.asked["module", name, importer] = "" if answer is None else digest(answer.path, answer.data)
        if answer is not None:
            self.files.add(answer.path)
        return answer

    def installed(self, name: str, importer: str) -> Source | None:
        """As the world says."""
        answer = self._world.installed(name, importer)
        self.asked["installed", name, importer] = "" if answer is None else digest(answer.path, answer.data)
        if answer is not None:
            self.files.add(answer.path)
        return answer

    def definition(self, module: str, name: str) -> tuple[Source, str] | None:
        """As the world says."""
        answer = self._world.definition(module, name)
        self.asked["definition", module, name] = (
            "" if answer is None else digest(answer[0].path, answer[0].data, answer[1])
        )
        if answer is not None:
            self.files.add(answer[0].path)
        return answer


def digest(*parts: str | bytes) -> str:
    """A short text that is another one for other parts."""
    hashed = blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()


def still_holds(asked: Mapping[Question, str], stamps: Mapping[Question, str], world: World, stamp: Stamp) -> bool:
    """Whether a world would give the same answers again; it is not asked where a stamp says so already."""
    now = RecordingWorld(world, stamp)
    for question, answer in asked.items():
        before = stamps.get(question)
        if before and before == stamp(question):
            continue
        match question:
            case ("version", name):
                now.version(name)
            case ("checkpoint", name):
                now.checkpoint(name)
            case ("module", name, importer):
                now.module(name, importer)
            case ("installed", name, importer):
                now.installed(name, importer)
            case ("definition", module, name):
                now.definition(module, name)
            case ("scripts", path):
                now.scripts(path)
            case ("importers", path, *names):
                now.importers(path, names)
            case _:
                raise AssertionError(question)
        if now.asked[question] != answer:
            return False
    return True
