"""Each diagnostic with the source it speaks of, the related places and the way out."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.diagnostic import Diagnostic, Location
from llm_lsp.render.concise import fix_tag
from llm_lsp.render.excerpt import Mark, excerpt, gutter
from llm_lsp.render.paint import Paint, visible
from llm_lsp.render.results import Results, place, quoted_rows


def render(results: Results, paint: Paint) -> Iterator[str]:
    for diagnostic in results.diagnostics:
        yield from _one(diagnostic, results, paint)
        yield ""


def _one(diagnostic: Diagnostic, results: Results, paint: Paint) -> Iterator[str]:
    severity = diagnostic.severity.value
    yield (
        f"{paint('path', visible(place(diagnostic.location)))}: {paint(severity, severity)} "
        f"{paint('code', diagnostic.code)} {diagnostic.name}{fix_tag(diagnostic, paint)}"
    )
    yield f"  {visible(diagnostic.message)}"
    groups = _groups(diagnostic)
    width = max(len(str(row)) for marks in groups.values() for mark in marks for row in quoted_rows(mark.range))
    for index, ((path, cell), marks) in enumerate(groups.items()):
        lines = _lines(results, path, cell, marks)
        if index:
            start = place(Location(path, cell, marks[0].range))
            unread = "" if lines or not marks[0].label else f" {marks[0].label}"
            yield f"{'':{width}}{paint('gutter', '-->')} {paint('path', visible(start))}{unread}"
        if lines:
            yield gutter(width, paint)
            yield from excerpt(lines, marks, width, paint)
    if diagnostic.help is not None:
        yield f"{'':{width}} {paint('gutter', '=')} {paint('help', 'help:')} {visible(diagnostic.help)}"


def _groups(diagnostic: Diagnostic) -> dict[tuple[str, int | None], list[Mark]]:
    """The marks by file and cell, the diagnostic's own first."""
    location = diagnostic.location
    groups = {(location.path, location.cell): [Mark(location.range, "^", diagnostic.severity.value)]}
    for related in diagnostic.related:
        mark = Mark(related.location.range, "-", "related", visible(related.message))
        groups.setdefault((related.location.path, related.location.cell), []).append(mark)
    return groups


def _lines(results: Results, path: str, cell: int | None, marks: list[Mark]) -> dict[int, str]:
    rows = {row for mark in marks for row in quoted_rows(mark.range)}
    texts = {row: results.lines.line(path, cell, row) for row in rows}
    return {row: text for row, text in texts.items() if text is not None}
