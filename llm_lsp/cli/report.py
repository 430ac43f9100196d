"""The report of a run, on the terminal or in a file."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from llm_lsp.cli.terminal import paint_for
from llm_lsp.cli.usage import UsageError
from llm_lsp.render import TEXT_FORMATS, Paint, Results, renderer
from llm_lsp.render.paint import visible
from llm_lsp.render.summary import count, statistics, summary
from llm_lsp.settings import OUTPUT_FORMATS, Settings
from llm_lsp.source import Source

__all__ = ["output_format", "print_difference", "show_fixes", "write_report"]

_STYLES = {"+": "added", "-": "removed", "@": "hunk"}
_VARIABLE = "LLM_LINT_OUTPUT_FORMAT"


def output_format(options: Namespace, settings: Settings) -> str:
    """The format that the command line, the environment or the settings ask for, in this order."""
    chosen: str = options.output_format or os.environ.get(_VARIABLE) or settings.output_format
    if chosen not in OUTPUT_FORMATS:
        raise UsageError(f"{_VARIABLE}: `{chosen}` is none of {', '.join(OUTPUT_FORMATS)}")
    if options.statistics and chosen not in TEXT_FORMATS:
        raise UsageError(f"--statistics is a text for people: choose one of the formats {', '.join(TEXT_FORMATS)}")
    return chosen


def write_report(results: Results, chosen: str, options: Namespace, stream: TextIO) -> None:
    """Write the report to `--output-file`, else to `stream`; UsageError where the file can't be written."""
    if options.output_file is None:
        stream.writelines(f"{line}\n" for line in _lines(results, chosen, options, paint_for(stream)))
        return
    try:
        with Path(options.output_file).open("w", encoding="utf-8", newline="\n", errors="backslashreplace") as file:
            file.writelines(f"{line}\n" for line in _lines(results, chosen, options, Paint(colour=False)))
    except OSError as error:
        raise UsageError(f"--output-file: `{options.output_file}` can't be written: {error.strerror}") from error


def print_difference(before: Source, after: Source, stream: TextIO) -> None:
    """What `--diff` prints of one file."""
    from llm_lsp.fixes import unified_diff

    paint = paint_for(stream)
    for line in unified_diff(before, after).split("\n")[:-1]:
        style = "path" if line.startswith(("--- ", "+++ ")) else _STYLES.get(line[:1])
        stream.write(f"{paint(style, line) if style else line}\n")


def show_fixes(fixed: Mapping[str, Mapping[str, int]], names: Mapping[str, str]) -> Iterator[str]:
    """What was repaired, by file and code."""
    for path, counts in fixed.items():
        total = sum(counts.values())
        yield f"Fixed {count(total, 'problem')} in {visible(path)}:"
        for code in sorted(counts):
            yield f"  {counts[code]} x {code} {names[code]}"


def _lines(results: Results, chosen: str, options: Namespace, paint: Paint) -> Iterator[str]:
    if options.statistics:
        yield from statistics(results, paint)
    elif results.diagnostics or chosen not in TEXT_FORMATS:
        yield from renderer(chosen)(results, paint)
    if chosen in TEXT_FORMATS and not options.quiet:
        yield summary(results)
