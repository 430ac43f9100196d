"""Fixes applied to a source, in passes, until nothing is left to fix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from llm_lsp.diagnostic import Applicability, Diagnostic, Edit, Location
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.source import EditError, Source

__all__ = ["Applied", "Fixed", "FixesDoNotSettle", "apply", "fix"]

PASSES = 10


class FixesDoNotSettle(Exception):  # noqa: N818  the name says what is wrong
    """After ten passes there is still something to fix: two rules undo each other. Nothing is to be written."""

    def __init__(self, path: str, codes: Sequence[str]) -> None:
        super().__init__(
            f"{path}: the fixes of {', '.join(codes)} do not settle after {PASSES} passes; nothing was changed, "
            f"fix one of them by hand or ignore it"
        )
        self.path = path
        self.codes = tuple(codes)


class Applied(NamedTuple):
    """One pass: the file's new bytes, and the diagnostics whose fixes are in them."""

    data: bytes
    diagnostics: tuple[Diagnostic, ...]


class Fixed(NamedTuple):
    """What is left after all passes."""

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    """Those of the new source."""
    applied: Mapping[str, int]
    """How many diagnostics of each code were repaired."""


def applicable(source: Source, diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> list[Diagnostic]:
    """The diagnostics whose fixes may be applied to this source, in order; none where it does not parse.

    A fix that also edits another file is left to a front end that can change several at once.
    """
    if any(one.code == "LLM000" for one in source.problems):
        return []
    found: list[tuple[Location, str, int, Diagnostic]] = []
    for index, one in enumerate(diagnostics):
        if one.fix is None or not one.fix.edits:
            continue
        if not unsafe and one.fix.applicability is not Applicability.SAFE:
            continue
        if all(edit.location.path == source.path for edit in one.fix.edits):
            first = min((edit.location for edit in one.fix.edits), key=_place)
            found.append((first, one.code, index, one))
    found.sort(key=lambda each: (_place(each[0]), each[1], each[2]))
    return [one for *_, one in found]


def apply(source: Source, diagnostics: Iterable[Diagnostic], *, unsafe: bool) -> Applied:
    """One pass: each fix whole or not at all, in order of first place, then code.

    One that meets an edit of an accepted one waits for the next pass; the same line inserted twice, or the same
    text replaced by the same, is one edit. Nothing is applied where the result would not parse.
    """
    accepted: dict[Edit, None] = {}
    chosen: list[Diagnostic] = []
    for one in applicable(source, diagnostics, unsafe=unsafe):
        edits = one.fix.edits if one.fix else ()
        new = [edit for edit in edits if not (edit in accepted and _merges(edit))]
        if new and not any(_meet(edit, other) for edit in new for other in accepted):
            accepted.update(dict.fromkeys(new))
            chosen.append(one)
        elif not new:
            chosen.append(one)
    if not chosen:
        return Applied(source.data, ())
    try:
        data = source.with_edits(list(accepted))
    except EditError:
        return Applied(source.data, ())
    return Applied(data, tuple(chosen))


def fix(source: Source, lint: Callable[[Source], Sequence[Diagnostic]], *, unsafe: bool) -> Fixed:
    """Apply fixes and lint again until nothing is left to fix; raises FixesDoNotSettle after ten passes."""
    diagnostics = lint(source)
    applied: Counter[str] = Counter()
    for _ in range(PASSES):
        done = apply(source, diagnostics, unsafe=unsafe)
        after = _read(source, done.data)
        if not done.diagnostics or after is None:
            return Fixed(source, tuple(diagnostics), dict(sorted(applied.items())))
        applied.update(one.code for one in done.diagnostics)
        source, diagnostics = after, lint(after)
    left = applicable(source, diagnostics, unsafe=unsafe)
    if left:
        raise FixesDoNotSettle(source.path, sorted({one.code for one in left}))
    return Fixed(source, tuple(diagnostics), dict(sorted(applied.items())))


def _read(before: Source, data: bytes) -> Source | None:
    """The new source, or None where it has a problem that the old one has not."""
    if data == before.data:
        return None
    kind: Literal["notebook", "python"] = "notebook" if before.is_notebook else "python"
    after = Source.from_bytes(before.path, data, max_size=len(data), kind=kind)
    return None if len(after.problems) > len(before.problems) else after


def _place(location: Location) -> tuple[int, int, int, int, int]:
    start, end = location.range.start, location.range.end
    return location.cell or 0, start.row, start.column, end.row, end.column


def _merges(edit: Edit) -> bool:
    """Whether doing this twice is the same as doing it once: a replacement, or a line of its own."""
    place = edit.location.range
    return place.start != place.end or edit.content.startswith("\n") or edit.content.endswith("\n")


def _meet(one: Edit, other: Edit) -> bool:
    """Whether two edits overlap; an insertion also meets what begins or ends where it stands."""
    if one.location.cell != other.location.cell:
        return False
    first, second = one.location.range, other.location.range
    if first.start == first.end or second.start == second.end:
        return first.start <= second.end and second.start <= first.end
    return first.start < second.end and second.start < first.end
