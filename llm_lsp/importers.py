"""Which files of a project import a module."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["Importers"]

_MOST_KEPT = 16_000_000
"""Bytes of files that are kept while modules are searched for one by one."""


class Importers:
    """Finds the files in whose import statements a word stands.

    Whoever lints one file asks about few modules: for them the files are searched for the word, which takes a tenth of
    the time that an index of all import statements takes. That is made when there are more questions.

    Args:
        files: those to look at.
        written: what is written in a file.
        words: the words of a file's import statements.
        searches: so many questions are answered without the index.
    """

    def __init__(
        self,
        files: Iterable[Path],
        written: Callable[[Path], bytes],
        words: Callable[[Path], frozenset[str]],
        searches: int,
    ) -> None:
        self._files = list(files)
        self._written = written
        self._words = words
        self._searches = searches
        self._kept: dict[Path, bytes] = {}
        self._kept_bytes = 0
        self._known: dict[Path, frozenset[str]] = {}
        self._index: dict[str, list[Path]] = {}

    def of(self, word: str) -> list[Path]:
        """The files that import something in whose name the word stands."""
        if not self._index and self._searches > 0:
            self._searches -= 1
            written = word.encode()
            return [file for file in self._files if written in self._text(file) and word in self._words_of(file)]
        if not self._index:
            self._kept.clear()
            for file in self._files:
                for each in self._words_of(file):
                    self._index.setdefault(each, []).append(file)
            self._known.clear()
        return self._index.get(word, [])

    def _words_of(self, file: Path) -> frozenset[str]:
        known = self._known.get(file)
        if known is None:
            known = self._known[file] = self._words(file)
        return known

    def _text(self, file: Path) -> bytes:
        text = self._kept.get(file)
        if text is None:
            text = self._written(file)
            if self._kept_bytes + len(text) <= _MOST_KEPT:
                self._kept[file] = text
                self._kept_bytes += len(text)
        return text
