"""Tracebacks that `faulthandler` wrote, read back: where a program was when it was ended."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from functools import lru_cache

__all__ = ["is_of_a_library", "read_frames"]

_THREAD = re.compile(r"(?:Current thread|Thread) 0x|Stack \(most recent call first\)")
_FRAME = re.compile(r'  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>.+)')
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120

_CHILD = os.path.join(_OWN_FOLDER, "child.py")  # noqa: PTH118
"""What carries out a run, so that its frames stand in the thread that matters."""


def read_frames(text: str) -> list[dict[str, object]]:
    """The frames of the user's program, outermost first, as an error of a result has them.

    Args:
        text: what `faulthandler` wrote; of several threads, the one that the run began in counts.
    """
    threads: list[list[tuple[str, int, str]]] = [[]]
    for line in text.splitlines():
        if _THREAD.match(line):
            threads.append([])
        elif found := _FRAME.match(line):
            threads[-1].append((_unescaped(found["file"]), int(found["line"]), found["function"]))
    own = [frames for frames in threads if any(file == _CHILD for file, _, _ in frames)]
    innermost_first = own[0] if own else threads[-1]
    return [
        {"file": file, "line": line, "function": function, "tensors": {}}
        for file, line, function in reversed(innermost_first)
        if not is_of_a_library(file)
    ]


def _unescaped(file: str) -> str:
    # On Windows a folder may be called `users`, and the backslash before it is none of an escape.
    return (
        file if sys.platform == "win32" else _ESCAPE.sub(lambda found: chr(int(found[found.lastindex or 0], 16)), file)
    )


def is_of_a_library(file: str) -> bool:
    """Whether a file is Python's, of an installed package, ours, or none at all."""
    if file.startswith("<") or not os.path.isabs(file):  # noqa: PTH117
        return True
    parts = file.replace("\\", "/").split("/")
    return "site-packages" in parts or "dist-packages" in parts or file.startswith(_folders_of_libraries())


@lru_cache(maxsize=1)
def _folders_of_libraries() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths["stdlib"], paths["platstdlib"], os.path.dirname(os.__file__), _OWN_FOLDER}  # noqa: PTH120
    # Where the standard library is the root of all, as in some bundles, nothing could be told apart.
    return tuple(folder + os.sep for folder in folders if folder not in ("", os.sep, sys.prefix))
