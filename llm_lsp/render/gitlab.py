"""A GitLab Code Quality report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from llm_lsp.diagnostic import Diagnostic, Position, Severity
from llm_lsp.render.fingerprint import fingerprints
from llm_lsp.render.paint import Paint
from llm_lsp.render.results import Results

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFORMATION: "info"}


def render(results: Results, paint: Paint) -> Iterator[str]:
    del paint
    issues = [
        _issue(diagnostic, _from_project_directory(results.root, diagnostic.location.path), fingerprint)
        for diagnostic, fingerprint in zip(results.diagnostics, fingerprints(results, with_path=True), strict=True)
    ]
    yield json.dumps(issues, indent=2)


def _issue(diagnostic: Diagnostic, path: str, fingerprint: str) -> dict[str, Any]:
    location = diagnostic.location
    # A row of a cell is no line of the notebook file; GitLab asks for a line all the same.
    in_file = location.cell is None
    first = Position(1, 1)
    start, end = (location.range.start, location.range.end) if in_file else (first, first)
    cell = "" if in_file else f"cell {location.cell}, row {location.range.start.row}: "
    return {
        "description": f"{diagnostic.code} {diagnostic.name}: {cell}{diagnostic.message}",
        "check_name": diagnostic.name,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[diagnostic.severity],
        "location": {"path": path, "positions": {"begin": _position(start), "end": _position(end)}},
    }


def _position(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}


def _from_project_directory(root: str, path: str) -> str:
    """The path as GitLab counts it: from the repository's root, wherever the job changed to."""
    project = os.environ.get("CI_PROJECT_DIR")
    if not project:
        return path
    try:
        return Path(root, path).relative_to(project).as_posix()
    except ValueError:
        return path
