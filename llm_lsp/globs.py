"""Path patterns with the rules of `.gitignore`.

`pathspec` costs as much start-up as the rest of a small check, so plain names, which is what most people write and
what our defaults are, are compared without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

__all__ = ["Globs", "is_pattern"]

_SPECIAL = frozenset("*?[]!#/\\ ")


def is_pattern(text: str) -> bool:
    """Whether the text is a pattern that matches anything at all."""
    return bool(text) and (not _SPECIAL.intersection(text) or any(_patterns(text)))


class Globs:
    """Patterns below one folder; a later one overrides an earlier one, `!` takes back.

    Lines that are no pattern are passed over, as Git does.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = tuple(line for line in lines if line.strip() and not line.startswith("#"))
        plain = not any(_SPECIAL.intersection(line) for line in self._lines)
        self._names = frozenset(self._lines) if plain else None
        self._spec: GitIgnoreSpec | None = None

    def __bool__(self) -> bool:
        return bool(self._lines)

    def verdict(self, path: str, *, above: str = "") -> bool | None:
        """Whether the patterns match `path` (True), take it back (False) or say nothing of it (None).

        Args:
            path: relative to the patterns' folder, `/` between the parts and, for a folder, at the end.
            above: a folder on the way to `path` that is not to be judged: a pattern that matches it is passed over
                where it matches `path` only for that reason.
        """
        if not self._lines:
            return None
        if self._names is not None:
            parts = path.removeprefix(above).strip("/").split("/")
            return True if self._names.intersection(parts) else None
        spec = self._loaded()
        result = spec.check_file(path)
        if result.include and above and result.index is not None:
            pattern = spec.patterns[result.index]
            if pattern.match_file(above) is not None:
                return None
        return result.include

    def _loaded(self) -> GitIgnoreSpec:
        if self._spec is None:
            self._spec = _compiled(self._lines)
        return self._spec


def _compiled(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec([pattern for line in lines for pattern in _patterns(line)])


def _patterns(line: str) -> Iterator[GitIgnoreSpecPattern]:
    from pathspec import GitIgnoreSpec

    with suppress(ValueError):
        yield from (pattern for pattern in GitIgnoreSpec.from_lines([line]).patterns if pattern.include is not None)
