"""Ending a process with all that it has started."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

__all__ = ["adopt_orphans", "die_with_parent", "kill_strays", "kill_tree", "running_threads"]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own, so that none escapes by a session of its own."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Have the system end this process when its parent ends, however that ends."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has ended before that
            os._exit(1)


def kill_tree(leader: int) -> None:
    """End the leader of a process group, the group, and on Linux what has left the group."""
    if sys.platform == "win32":
        _kill_tree_on_windows(leader)
        return
    # Before their parents end, since afterwards nothing tells whose they were.
    descendants = _descendants(leader)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
    for process in (leader, *descendants):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def kill_strays(known: frozenset[int]) -> None:
    """End the children of this process that it did not start: orphans that it has adopted.

    Args:
        known: the children that it did start.
    """
    if sys.platform != "linux":
        return
    own = os.getpid()
    # Each may leave orphans in turn.
    while strays := [child for child, parent in _parents().items() if parent == own and child not in known]:
        for stray in strays:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(stray, 0)


def running_threads() -> int:
    """How many threads this process has, of C libraries too; 1 where that can't be told."""
    try:
        return len(os.listdir("/proc/self/task"))  # noqa: PTH208
    except OSError:
        return 1


def _descendants(process: int) -> list[int]:
    parents = _parents()
    found = [process]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def _parents() -> dict[int, int]:
    """The parent of every process, where `/proc` tells it."""
    found: dict[int, int] = {}
    if sys.platform != "linux":
        return found
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdecimal():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                # The name of the program stands in parentheses, and may hold some.
                found[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    return found


def _kill_tree_on_windows(leader: int) -> None:
    """By the system's own program; no test of ours has run it."""
    import subprocess

    subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], check=False, capture_output=True)  # noqa: S603, S607
