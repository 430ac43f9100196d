"""The diagnostics of each file under its name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from llm_lsp.render.concise import fix_tag
from llm_lsp.render.paint import Paint, visible
from llm_lsp.render.results import Results, place


def render(results: Results, paint: Paint) -> Iterator[str]:
    for path, group in groupby(results.diagnostics, lambda diagnostic: diagnostic.location.path):
        diagnostics = list(group)
        yield paint("path", visible(path)) + ":"
        places = [place(diagnostic.location).removeprefix(path + ":") for diagnostic in diagnostics]
        width = max(map(len, places))
        for start, diagnostic in zip(places, diagnostics, strict=True):
            severity = diagnostic.severity.value
            yield (
                f"  {start:{width}} {paint(severity, f'{severity:11}')} {paint('code', diagnostic.code)} "
                f"{diagnostic.name}: {visible(diagnostic.message)}{fix_tag(diagnostic, paint)}"
            )
        yield ""
