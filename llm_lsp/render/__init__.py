"""Diagnostics as text: one module for each value of `--output-format`, imported when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from llm_lsp.render.paint import Paint
from llm_lsp.render.results import Results
from llm_lsp.settings import OUTPUT_FORMATS

__all__ = ["TEXT_FORMATS", "Paint", "Renderer", "Results", "renderer"]

Renderer = Callable[[Results, Paint], Iterator[str]]
"""Yields the lines of the report, without their line ends."""

TEXT_FORMATS = ("full", "concise", "grouped")
"""Those that a person reads: they end in a summary."""


def renderer(name: str) -> Renderer:
    """The renderer of one of `OUTPUT_FORMATS`; any other name is a ValueError."""
    if name not in OUTPUT_FORMATS:
        raise ValueError(f"`{name}` is not an output format")
    from importlib import import_module

    return cast("Renderer", import_module(f"{__name__}.{name.replace('-', '_')}").render)
