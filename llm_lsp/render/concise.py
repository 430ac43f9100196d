"""One line for each diagnostic."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.diagnostic import Applicability, Diagnostic
from llm_lsp.render.paint import Paint, visible
from llm_lsp.render.results import Results, place

__all__ = ["fix_tag", "render"]


def render(results: Results, paint: Paint) -> Iterator[str]:
    for diagnostic in results.diagnostics:
        severity = diagnostic.severity.value
        yield (
            f"{paint('path', visible(place(diagnostic.location)))}: {paint(severity, severity)} "
            f"{paint('code', diagnostic.code)} {diagnostic.name}: {visible(diagnostic.message)}{fix_tag(diagnostic, paint)}"
        )


def fix_tag(diagnostic: Diagnostic, paint: Paint) -> str:
    """Says that there is a fix, and of which kind; begins with a space where it says anything."""
    if diagnostic.fix is None:
        return ""
    safe = diagnostic.fix.applicability is Applicability.SAFE
    return " " + paint("fix", "[fix]" if safe else "[unsafe fix]")
