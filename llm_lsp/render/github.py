"""Workflow commands, which GitHub Actions shows as annotations of a pull request.

Escaping is that of the `@actions/core` toolkit (`escapeData`, `escapeProperty`).
"""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.diagnostic import Diagnostic, Severity
from llm_lsp.render.paint import Paint
from llm_lsp.render.results import Results, place

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "notice"}


def render(results: Results, paint: Paint) -> Iterator[str]:
    del paint
    for diagnostic in results.diagnostics:
        properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(diagnostic).items())
        text = f"{place(diagnostic.location)}: {diagnostic.code} {diagnostic.message}"
        yield f"::{_COMMANDS[diagnostic.severity]} {properties}::{_data(text)}"


def _properties(diagnostic: Diagnostic) -> dict[str, str]:
    location = diagnostic.location
    properties = {"title": f"llm-lint ({diagnostic.code} {diagnostic.name})", "file": location.path}
    if location.cell is not None:
        # A row of a cell is no line of the notebook file: the annotation goes to the file, the message names the cell.
        return properties
    start, end = location.range.start, location.range.end
    properties |= {"line": str(start.row), "endLine": str(end.row)}
    if start.row == end.row:
        # GitHub drops columns where an annotation spans lines.
        properties |= {"col": str(start.column), "endColumn": str(end.column)}
    return properties


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
