"""Whether snippets of code stand in a text, however the text is laid out."""

from __future__ import annotations

from functools import cache

__all__ = ["Snippets"]


class Snippets:
    """The snippets of one text. Each is looked for once: of a module that many others enter, rules ask again and again."""

    __slots__ = ("_found", "_once", "_parts", "_squeezed", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts = text.split()
        # What stands between blanks, each once, is half as long: with many rules the search is felt.
        self._once = "\n".join(set(self._parts))
        self._squeezed = ""
        self._found: dict[str, bool] = {}

    def __contains__(self, snippet: str) -> bool:
        """Whether it stands there, as it is or with blanks and line ends between its parts."""
        found = self._found.get(snippet)
        if found is None:
            found = self._found[snippet] = snippet in (self._text if " " in snippet else self._once) or (
                # A word alone has no parts; where one of the parts is missing, nobody has to look between them.
                not snippet.isidentifier()
                and all(word in self._once for word in _words(snippet))
                and self._stands_apart(snippet)
            )
        return found

    def _stands_apart(self, snippet: str) -> bool:
        self._squeezed = self._squeezed or "".join(self._parts)
        return "".join(snippet.split()) in self._squeezed


@cache
def _words(snippet: str) -> list[str]:
    """The identifiers in a snippet."""
    return "".join(letter if letter.isidentifier() or letter.isdigit() else " " for letter in snippet).split()
