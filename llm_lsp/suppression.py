"""Comments that silence diagnostics: `# noqa`, `# noqa: LLM101`, `# llm-lint: ignore[name]` and their whole-file forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from llm_lsp.diagnostic import Edit, Location, Position, Range
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:
    from llm_lsp.logical_lines import Comment, LogicalLines

__all__ = [
    "Suppression",
    "Suppressions",
    "Unused",
    "ignore_file_edit",
    "names_our_codes",
    "noqa_edits",
    "suppressions_in",
]

# Texts, since most files have none of these, and each takes half a millisecond to compile.
_NOQA = r"(?i)#\s*noqa(?![\w-])(?P<list>(?P<colon>\s*:\s*)(?P<names>[A-Z]+[0-9]+(?:(?:\s*,\s*|\s+)[A-Z]+[0-9]+\b)*))?"
_IGNORE = r"(?i)#\s*llm-lint\s*:\s*(?P<what>ignore(?:-file)?)(?![\w-])(?P<list>[ \t]*\[(?P<names>[^\]]*)\])?"
_OUR_CODE = r"(?i)LLM[0-9]+"
_STAYS_FIRST = r"#!|#.*coding[:=]"
"""Lines above which no comment may stand, since they say how the file is started or read."""


class _Commented(Protocol):
    """What of a source is needed to put comments into it."""

    @cached_property
    def lines(self) -> list[str]: ...
    @cached_property
    def logical_lines(self) -> LogicalLines: ...
    @property
    def magic_rows(self) -> frozenset[int]: ...
    @cached_property
    def suppressions(self) -> Suppressions: ...
    def locate(self, range: Range) -> Location: ...


class Suppression(NamedTuple):
    """One directive in a comment."""

    range: Range
    names: tuple[str, ...]
    """Codes and names as written; empty for all of them."""
    names_range: Range
    """Where `names` stand."""
    is_noqa: bool
    is_file_wide: bool

    def covers(self, code: str, name: str) -> bool:
        """Whether this speaks of the rule `code`, called `name`."""
        return not self.names or any(_is(written, code, name) for written in self.names)


class Unused(NamedTuple):
    """A suppression, or a part of one, that suppressed nothing."""

    range: Range
    names: tuple[str, ...]
    """The codes and names that suppressed nothing, as written; empty for a directive without any."""
    removal: Range
    """What takes the place of the text here is `replacement`: the names that are of use, or nothing."""
    replacement: str


class Suppressions(NamedTuple):
    """All suppressions of one file."""

    by_row: Mapping[int, tuple[Suppression, ...]]
    file_wide: tuple[Suppression, ...]
    lines: Sequence[str]

    def suppressed_by(self, code: str, name: str, rows: Iterable[int]) -> tuple[Suppression, ...]:
        """The suppressions of a diagnostic whose first row, and whose statement's first and last row, are `rows`."""
        if not self.by_row and not self.file_wide:
            return ()
        here = (suppression for row in dict.fromkeys(rows) for suppression in self.by_row.get(row, ()))
        return tuple(suppression for suppression in (*here, *self.file_wide) if suppression.covers(code, name))

    def unused(self, suppressed: Iterable[tuple[str, str, Iterable[int]]], ran: Callable[[str], bool]) -> list[Unused]:
        """What suppressed none of `suppressed`, each (code, name, rows) as asked of `suppressed_by`.

        A code or name for which `ran` is False is left alone: its rule could not have reported anything. Codes of
        other linters and a `# noqa` without codes are never unused.
        """
        if not self.by_row and not self.file_wide:
            return []
        used: dict[Suppression, set[tuple[str, str]]] = {}
        for code, name, rows in suppressed:
            for suppression in self.suppressed_by(code, name, rows):
                used.setdefault(suppression, set()).add((code, name))
        everything = [*(one for row in self.by_row.values() for one in row), *self.file_wide]
        found = (self._unused(one, used.get(one, set()), ran) for one in sorted(everything, key=lambda one: one.range))
        return [one for one in found if one is not None]

    def _unused(
        self, suppression: Suppression, hits: set[tuple[str, str]], ran: Callable[[str], bool]
    ) -> Unused | None:
        if not suppression.names:
            is_idle = not suppression.is_noqa and not hits
            return Unused(suppression.range, (), self._whole(suppression), "") if is_idle else None
        idle: list[str] = []
        kept: dict[str, None] = {}
        for written in suppression.names:
            is_ours = not suppression.is_noqa or bool(re.fullmatch(_OUR_CODE, written))
            is_used = any(_is(written, *hit) for hit in hits) and written not in kept
            if is_ours and ran(written) and not is_used:
                idle.append(written)
            else:
                kept[written] = None
        if not idle:
            return None
        if kept:
            return Unused(suppression.names_range, tuple(idle), suppression.names_range, ", ".join(kept))
        return Unused(suppression.names_range, tuple(idle), self._whole(suppression), "")

    def _whole(self, suppression: Suppression) -> Range:
        """The directive with the blanks around it; its row too, where that holds nothing else."""
        row, start, end = suppression.range.start.row, suppression.range.start.column, suppression.range.end.column
        line = self.lines[row - 1]
        before, after = line[: start - 1], line[end - 1 :]
        if after.strip():
            rest = len(after) - len(after.lstrip())
            return Range(Position(row, start), Position(row, end + (rest if after.lstrip().startswith("#") else 0)))
        if not before.strip() and row < len(self.lines):
            return Range(Position(row, 1), Position(row + 1, 1))
        return Range(Position(row, len(before.rstrip()) + 1), Position(row, len(line) + 1))


def _is(written: str, code: str, name: str) -> bool:
    return written.upper() == code.upper() or written.lower() == name.lower()


def suppressions_in(text: str, lines: list[str], comments: Callable[[], LogicalLines]) -> Suppressions:
    """The suppressions of `text`; `comments` is asked only where the text has the words."""
    lowered = text.lower()
    if "noqa" not in lowered and "llm-lint" not in lowered:
        return Suppressions({}, (), lines)
    by_row: dict[int, tuple[Suppression, ...]] = {}
    file_wide: list[Suppression] = []
    for comment in comments().comments:
        for suppression in _suppressions_of(comment):
            if suppression.is_file_wide:
                file_wide.append(suppression)
            else:
                by_row[comment.row] = (*by_row.get(comment.row, ()), suppression)
    return Suppressions(by_row, tuple(file_wide), lines)


def names_our_codes(text: str) -> bool:
    """Whether a comment may name codes of ours: only such a suppression can be found to be of no use."""
    lowered = text.lower()
    if "llm-lint" in lowered:
        return True
    at = lowered.find("noqa")
    while at >= 0:
        end = lowered.find("\n", at)
        if "llm" in lowered[at : end if end >= 0 else None]:
            return True
        at = lowered.find("noqa", at + 1)
    return False


def _suppressions_of(comment: Comment) -> Iterable[Suppression]:
    for pattern in (_NOQA, _IGNORE):
        found = re.search(pattern, comment.text)
        if not found:
            continue
        written = found["names"] or ""
        names = tuple(filter(None, re.split(r"[\s,]+", written)))
        if found["list"] and not names:
            continue
        is_file_wide = pattern is _IGNORE and found["what"].lower() == "ignore-file"
        start = found.start("names") + len(written) - len(written.lstrip()) if names else found.end()
        span = start, start + len(written.strip())
        yield Suppression(
            _in_row(comment, *found.span()), names, _in_row(comment, *span), pattern is _NOQA, is_file_wide
        )


def _in_row(comment: Comment, start: int, end: int) -> Range:
    return Range(Position(comment.row, comment.column + start), Position(comment.row, comment.column + end))


def noqa_edits(source: _Commented, found: Iterable[tuple[int, str]]) -> list[Edit]:
    """Edits that put `# noqa` comments for (row, code) pairs at the ends of the statements that hold the rows.

    An existing `# noqa: ...` there is extended; nothing is added where a bare `# noqa` covers the code already, nor
    on a row that can't hold a comment: a magic, or one that an open string or a backslash carries on.
    """
    codes: dict[int, dict[str, None]] = {}
    for row, code in found:
        codes.setdefault(source.logical_lines.span_of(row)[1], {})[code] = None
    edits: list[Edit] = []
    for row, wanted in sorted(codes.items()):
        first, _ = source.logical_lines.span_of(row)
        rows = source.lines[first - 1 : row]
        comment = source.logical_lines.comment_on(row)
        if row in source.magic_rows or not rows or (comment is None and rows[-1].rstrip().endswith("\\")):
            continue
        change = _noqa_change(row, rows[-1], comment, list(wanted))
        if change and _is_comment(rows, *change):
            edits.append(Edit(source.locate(change[0]), change[1]))
    return edits


def ignore_file_edit(source: _Commented, code: str) -> Edit | None:
    """The edit that suppresses a code in the whole file; None where that is done already.

    An existing comment of this kind is extended; a new one stands above everything that may have a comment above it.
    """
    existing = source.suppressions.file_wide
    if existing:
        end = existing[0].names_range.end
        is_done = any(suppression.covers(code, code) for suppression in existing)
        return None if is_done else Edit(source.locate(Range(end, end)), f", {code}")
    rows = enumerate(source.lines[:3], 1)
    row = next((row for row, line in rows if row not in source.magic_rows and not re.match(_STAYS_FIRST, line)), 1)
    here = Position(row, 1)
    return Edit(source.locate(Range(here, here)), f"# llm-lint: ignore-file[{code}]\n")


def _noqa_change(row: int, line: str, comment: Comment | None, codes: list[str]) -> tuple[Range, str] | None:
    for suppression in _suppressions_of(comment) if comment else ():
        if suppression.is_noqa:
            missing = [code for code in codes if not suppression.covers(code, code)]
            end = suppression.names_range.end
            return (Range(end, end), "".join(f", {code}" for code in missing)) if missing else None
    width = len(line.rstrip()) + 1
    blanks = "  " if line.strip() else ""
    return Range(Position(row, width), Position(row, len(line) + 1)), f"{blanks}# noqa: {', '.join(codes)}"


def _is_comment(rows: list[str], range_: Range, content: str) -> bool:
    """Whether what is written into the last of `rows`, which are one statement, is read as a comment."""
    from llm_lsp.logical_lines import scan

    last = rows[-1]
    changed = last[: range_.start.column - 1] + content + last[range_.end.column - 1 :]
    return any(comment.row == len(rows) for comment in scan("\n".join([*rows[:-1], changed])).comments)
