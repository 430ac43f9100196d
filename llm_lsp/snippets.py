"""Whether snippets of code stand in a text, however the text is laid out."""

from __future__ import annotations

from functools import cache
from string import punctuation, whitespace

__all__ = ["Snippets", "words"]

_BLANKS = whitespace.encode()
_APART = bytes.maketrans(punctuation.replace("_", "").encode(), b" " * (len(punctuation) - 1))


class Snippets:
    """The snippets of one text. Each is looked for once: of a module that many others enter, rules ask again and again."""

    __slots__ = ("_found", "_squeezed", "_words")

    def __init__(self, text: str) -> None:
        # Bytes, which are searched and taken apart faster. Each word once is a tenth of the text: with many rules the
        # search is felt.
        written = text.encode("utf-8", "replace")
        self._words = b"\n".join(set(words(text)))
        self._squeezed = written.translate(None, _BLANKS)
        self._found: dict[str, bool] = {}

    def __contains__(self, snippet: str) -> bool:
        """Whether it stands there, as it is or with blanks and line ends between its parts."""
        found = self._found.get(snippet)
        if found is None:
            squeezed, word = _parts(snippet)
            # The text is ten times as long as its words: a snippet is mostly missed by its longest word.
            found = word in self._words and (squeezed == word or squeezed in self._squeezed)
            self._found[snippet] = found
        return found


@cache
def _parts(snippet: str) -> tuple[bytes, bytes]:
    """A snippet without its blanks, and its longest word."""
    written = snippet.encode()
    return written.translate(None, _BLANKS), max(words(snippet), key=len, default=b"")


def words(text: str) -> list[bytes]:
    """The words of a text, keywords and parts of numbers and strings included, in order."""
    return text.encode("utf-8", "replace").translate(_APART).split()
