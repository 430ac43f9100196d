"""How much memory a run may take, and how one tells that it wanted more."""

from __future__ import annotations

import os
import sys
from threading import Thread
from time import sleep

__all__ = ["OUT_OF_MEMORY", "is_out_of_memory", "limit_memory"]

OUT_OF_MEMORY = 71
"""The exit code of a run that was ended because it took too much."""

_PERIOD = 0.05
_WORDS = ("can't allocate memory", "not enough memory", "out of memory", "cannot allocate memory", "std::bad_alloc")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that memory ran out; torch says so with a plain RuntimeError."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, (RuntimeError, OSError)) and any(words in str(error).lower() for words in _WORDS)


def limit_memory(megabytes: float, *, by_watching: bool) -> None:
    """Let this process take so much more than it has by now.

    On Linux an allocation beyond that fails. Elsewhere, or `by_watching`, the process is ended within moments after it
    has taken more: macOS does not keep to such limits, Windows has none that a process can set for itself, and CUDA
    reserves more addresses than any limit of that kind allows.
    """
    if sys.platform == "linux" and not by_watching:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
            pages = int(file.read().split()[0])
        most = pages * os.sysconf("SC_PAGE_SIZE") + int(megabytes * 2**20)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return
    Thread(target=_watch, args=(_peak() + int(megabytes * 2**20),), daemon=True).start()


def _watch(most: int) -> None:
    while _peak() <= most:
        sleep(_PERIOD)
    os._exit(OUT_OF_MEMORY)


def _peak() -> int:
    """The most bytes that this process has had in memory."""
    if sys.platform == "win32":
        return _peak_on_windows()
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _peak_on_windows() -> int:
    """Written by the documentation of `GetProcessMemoryInfo`; no test of ours has run it."""
    import ctypes

    class Counters(ctypes.Structure):
        _fields_ = (
            ("cb", ctypes.c_uint32),
            ("PageFaultCount", ctypes.c_uint32),
            *((name, ctypes.c_size_t) for name in ("PeakWorkingSetSize", "WorkingSetSize")),
            *((f"Quota{number}", ctypes.c_size_t) for number in range(4)),
            *((name, ctypes.c_size_t) for name in ("PagefileUsage", "PeakPagefileUsage")),
        )

    counters = Counters()
    size = ctypes.sizeof(counters)
    library = getattr(ctypes, "WinDLL")("kernel32")  # noqa: B009 (there only on Windows)
    library.GetCurrentProcess.restype = ctypes.c_void_p
    process = ctypes.c_void_p(library.GetCurrentProcess())
    library.K32GetProcessMemoryInfo(process, ctypes.byref(counters), size)
    return int(getattr(counters, "PeakPagefileUsage", 0))
