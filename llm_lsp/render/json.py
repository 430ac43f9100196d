"""One JSON array of objects, one for each diagnostic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from llm_lsp import rule_page
from llm_lsp.diagnostic import Diagnostic, Fix, Location, Position
from llm_lsp.render.paint import Paint
from llm_lsp.render.results import Results

__all__ = ["as_object", "render"]


def render(results: Results, paint: Paint) -> Iterator[str]:
    del paint
    yield json.dumps([as_object(diagnostic) for diagnostic in results.diagnostics], indent=2)


def as_object(diagnostic: Diagnostic) -> dict[str, Any]:
    """The diagnostic as JSON has it; rows and columns count from 1, in code points, ends are exclusive."""
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        **_location(diagnostic.location),
        "fix": _fix(diagnostic.fix),
        "related": [{**_location(related.location), "message": related.message} for related in diagnostic.related],
        "url": rule_page(diagnostic.name),
    }


def _location(location: Location) -> dict[str, Any]:
    return {
        "filename": location.path,
        "cell": location.cell,
        "location": _position(location.range.start),
        "end_location": _position(location.range.end),
    }


def _position(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _fix(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": [{**_location(edit.location), "content": edit.content} for edit in fix.edits],
    }
