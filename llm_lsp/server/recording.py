"""What a check asked of its world, short enough to be kept for as long as the document is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from llm_lsp.remembering import Question, RememberingWorld

if TYPE_CHECKING:
    from llm_lsp.source import Source
    from llm_lsp.world import World

__all__ = ["RecordingWorld", "Stamp", "digest", "still_holds"]

Stamp = Callable[[Question], str]
"""Another text as soon as the answer may be another one, without reading any file; empty where that can't be told."""


class RecordingWorld(RememberingWorld[str]):
    """Answers as another world does, and keeps digests of the answers.

    Args:
        world: the other one.
        stamp: what it says of a question is kept beside the answer.
    """

    def __init__(self, world: World, stamp: Stamp) -> None:
        super().__init__(world)
        self._stamp = stamp
        self.stamps: dict[Question, str] = {}
        """Taken before the answer, so that a change between the two is noticed later."""
        self.files: set[str] = set()
        """The files of the modules that were found, as `Source.path` names them."""

    def mark(self, answer: object) -> str:
        return digest(repr(answer))

    def mark_files(self, answer: Sequence[str | bytes] | None) -> str:
        return "" if answer is None else digest(*answer)

    def before_asking(self, question: Question) -> None:
        self.stamps[question] = self._stamp(question)

    def found(self, source: Source) -> Source:
        self.files.add(source.path)
        return source


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
        if not (before and before == stamp(question)) and now.again(question) != answer:
            return False
    return True
