"""One JSON object on a line of its own for each diagnostic."""

from __future__ import annotations

import json
from collections.abc import Iterator

from llm_lsp.render.json import as_object
from llm_lsp.render.paint import Paint
from llm_lsp.render.results import Results


def render(results: Results, paint: Paint) -> Iterator[str]:
    del paint
    for diagnostic in results.diagnostics:
        yield json.dumps(as_object(diagnostic))
