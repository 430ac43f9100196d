"""Noticing that the client's process has ended, though the pipe to it may be open.

A process that the client has started can have inherited the other end. Only Linux is tried by a test; Windows and macOS
have the same wait in their own words.
"""

from __future__ import annotations

import ctypes
import select
import sys
from collections.abc import Callable
from threading import Thread

__all__ = ["when_ended"]


def when_ended(process: int, tell: Callable[[], None]) -> None:
    """Have `tell` called once a process has ended, in a thread that sleeps until then.

    A process that is not there is not waited for: the client may live in another container, where its number means
    something else.
    """
    wait = _waiting_for(process)
    if wait is None:
        return

    def watch() -> None:
        wait()
        tell()

    Thread(target=watch, name="llm-lint client", daemon=True).start()


# What returns when a process has ended; None where there is no such process, or nothing that tells its end.
if sys.platform == "linux":
    _PIDFD_OPEN = 434

    def _waiting_for(process: int) -> Callable[[], object] | None:
        # `os.pidfd_open` is missing in a Python that was built against older headers, such as conda's.
        descriptor: int = ctypes.CDLL(None).syscall(_PIDFD_OPEN, ctypes.c_long(process), ctypes.c_long(0))
        if descriptor < 0:
            return None
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return poll.poll

elif sys.platform == "win32":
    from ctypes import wintypes

    _SYNCHRONIZE, _INFINITE = 0x0010_0000, 0xFFFF_FFFF

    def _waiting_for(process: int) -> Callable[[], object] | None:
        kernel = ctypes.WinDLL("kernel32")
        kernel.OpenProcess.restype = wintypes.HANDLE
        handle = kernel.OpenProcess(wintypes.DWORD(_SYNCHRONIZE), wintypes.BOOL(0), wintypes.DWORD(process))
        if not handle:
            return None
        return lambda: kernel.WaitForSingleObject(wintypes.HANDLE(handle), wintypes.DWORD(_INFINITE))

else:

    def _waiting_for(process: int) -> Callable[[], object] | None:
        queue = select.kqueue()
        try:
            end = select.kevent(process, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            queue.control([end], 0)
        except (OSError, OverflowError):
            return None
        return lambda: queue.control(None, 1)
