"""Colours for a terminal, and text made safe to print on one."""

from __future__ import annotations

__all__ = ["Paint", "visible"]

_RESET = "\033[0m"
_STYLES = {
    "path": "\033[1m",
    "error": "\033[1;31m",
    "warning": "\033[1;33m",
    "information": "\033[1;34m",
    "code": "\033[1m",
    "gutter": "\033[34m",
    "related": "\033[36m",
    "help": "\033[1;36m",
    "fix": "\033[36m",
    "added": "\033[32m",
    "removed": "\033[31m",
    "hunk": "\033[36m",
}


class Paint:
    """Wraps text in the escape sequences of a style, or in nothing."""

    def __init__(self, *, colour: bool) -> None:
        self.colour = colour

    def __call__(self, style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_RESET}" if self.colour and text else text


def visible(text: str) -> str:
    r"""The text with control and other unprintable characters written as escapes (`\x1b`).

    Paths and messages quote what a stranger wrote: a raw escape sequence could repaint the terminal, a raw line end
    could forge a second report.
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
