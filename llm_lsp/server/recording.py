"""A world that remembers what was asked of it, so that one can tell whether an answer would be another now."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING

from llm_lsp.world import World

if TYPE_CHECKING:
    from llm_lsp.knowledge.checkpoints import Checkpoint
    from llm_lsp.source import Source
    from llm_lsp.versions import Requirement

__all__ = ["Question", "RecordingWorld", "digest", "still_holds"]

Question = tuple[str, ...]
"""Which method was asked, and with what."""


class RecordingWorld:
    """Answers as another world does."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.asked: dict[Question, str] = {}
        """What was answered, as a digest."""
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
        self.asked["checkpoint", name] = digest(repr(answer))
        return answer

    def importers(self, path: str) -> list[Source]:
        """As the world says."""
        answer = self._world.importers(path)
        self.asked["importers", path] = digest(*(part for source in answer for part in (source.path, source.data)))
        self.files.update(source.path for source in answer)
        return answer

    def module(self, name: str, importer: str) -> Source | None:
        """As the world says."""
        answer = self._world.module(name, importer)
        self.asked["module", name, importer] = "" if answer is None else digest(answer.path, answer.data)
        if answer is not None:
            self.files.add(answer.path)
        return answer


def digest(*parts: str | bytes) -> str:
    """A short text that is another one for other parts."""
    hashed = blake2b(digest_size=12)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()


def still_holds(asked: Mapping[Question, str], world: World) -> bool:
    """Whether a world would give the same answers again."""
    now = RecordingWorld(world)
    for question, answer in asked.items():
        match question:
            case ("version", name):
                now.version(name)
            case ("checkpoint", name):
                now.checkpoint(name)
            case ("module", name, importer):
                now.module(name, importer)
            case ("importers", path):
                now.importers(path)
            case _:
                raise AssertionError(question)
        if now.asked[question] != answer:
            return False
    return True
