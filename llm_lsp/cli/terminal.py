"""What the streams can show: colours, progress, and characters that their encoding lacks."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, TextIO, TypeVar

if TYPE_CHECKING:
    from llm_lsp.render.paint import Paint

__all__ = ["paint_for", "prepare_streams", "progress", "silence_stdout"]

Item = TypeVar("Item")

_PATIENCE = 1.0
"""Seconds that pass without a progress bar."""
_PERIOD = 0.1
_WIDTH = 30


def prepare_streams() -> None:
    """Make every character printable in some form, whatever the console's encoding, and line ends the same anywhere.

    What the parent process closed can be written to like any other stream.
    """
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace", newline="\n")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - for as long as the process lives


def silence_stdout() -> None:
    """After the reader has gone: what is still buffered must not fail again when the interpreter exits."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        # Not a stream of the operating system, so nothing is flushed at exit.
        return


def paint_for(stream: TextIO) -> Paint:
    """Colours if `stream` is a terminal; NO_COLOR and FORCE_COLOR decide first, in this order."""
    from llm_lsp.render.paint import Paint  # with all that reports are made from, which `--version` has no use for

    if os.environ.get("NO_COLOR"):
        return Paint(colour=False)
    colour = bool(os.environ.get("FORCE_COLOR")) or _is_terminal(stream)
    if colour and sys.platform == "win32":
        # Starting any program makes the console interpret escape sequences from then on.
        os.system("")  # noqa: S605, S607
    return Paint(colour=colour)


def progress(items: Iterable[Item], total: int, noun: str, *, show: bool) -> Generator[Item, None, None]:
    """The items; while they take longer than a second, a bar on stderr if that is a terminal."""
    if not show or not _is_terminal(sys.stderr):
        yield from items
        return
    started = shown = time.monotonic()
    drawn = False
    try:
        for done, item in enumerate(items):
            now = time.monotonic()
            if now - started > _PATIENCE and now - shown > _PERIOD:
                filled = _WIDTH * done // max(1, total)
                bar = f"[{'#' * filled}{' ' * (_WIDTH - filled)}]"
                sys.stderr.write(f"\r{bar} {done:,}/{total:,} {noun}")
                sys.stderr.flush()
                shown, drawn = now, True
            yield item
    finally:
        if drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"
