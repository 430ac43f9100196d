"""Whether snippets of code stand in a text, however the text is laid out."""

from __future__ import annotations

from functools import cache
from string import punctuation, whitespace

__all__ = ["Snippets"]

_BLANKS = whitespace.encode()
_APART = bytes.maketrans(punctuation.replace("_", "").encode(), b" " * (len(punctuation) - 1))


class Snippets:
    """The snippets of one text. Each is looked for once: of a module that many others enter, rules ask again and again."""

    __slots__ = ("_found", "_squeezed", "_words")

    def __init__(self, text: str) -> None:
        # Bytes, which are searched and taken apart faster. Each word once is a tenth of the text: with many rules the
        # search is felt.
        written = text.encode("utf-8", "replace")
        self._words = b"\n".join(set(written.translate(_APART).split()))
        self._squeezed = written.translate(None, _BLANKS)
        self._found: dict[str, bool] = {}

    def __contains__(self, snippet: str) -> bool:
        """Whether it stands there, as it is or with blanks and line ends between its parts."""
        found = self._found.get(snippet)
        if found is None:
            # A word alone has no parts.
            where = self._words if snippet.isidentifier() else self._squeezed
            found = self._found[snippet] = _without_blanks(snippet) in where
        return found


@cache
def _without_blanks(snippet: str) -> bytes:
    return snippet.encode().translate(None, _BLANKS)
