"""No network for what runs here, and a note of who wanted it.

It stops Python code that opens a connection, which is what libraries do that fetch something. C code and other programs
are not stopped: this guards against accidents, it is no sandbox.
"""

from __future__ import annotations

import errno
import socket
import sys
from types import FrameType
from typing import NamedTuple, cast

__all__ = ["Attempt", "refuse_connections"]

_LOOKUPS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_LINKS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_MOST_KEPT = 20


class Attempt(NamedTuple):
    """A connection that was refused."""

    host: str
    frames: tuple[tuple[str, int], ...]
    """File and line of who asked, innermost first."""


def refuse_connections() -> list[Attempt]:
    """Refuse every connection to another machine from now on; the list grows with each attempt.

    An audit hook can't be removed: for processes that end with their run.
    """
    attempts: list[Attempt] = []

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if not event.startswith("socket."):
            return
        is_lookup = event in _LOOKUPS
        if not is_lookup and event not in _LINKS:
            return
        host = _host(arguments[0] if is_lookup else arguments[1])
        if host is None or _is_this_machine(host):
            return
        if len(attempts) < _MOST_KEPT and all(attempt.host != host for attempt in attempts):
            attempts.append(Attempt(host, _callers()))
        message = f"llm-lint runs programs offline, and refused a connection to {host}"
        if is_lookup:
            raise socket.gaierror(socket.EAI_NONAME, message)
        raise OSError(errno.ENETUNREACH, message)

    sys.addaudithook(hook)
    return attempts


def _host(address: object) -> str | None:
    """None for sockets that are files of this machine."""
    if isinstance(address, tuple):
        parts = cast("tuple[object, ...]", address)
        return _text(parts[0]) if parts else None
    return _text(address) if isinstance(address, str) and not address.startswith(("/", "\0")) else None


def _text(name: object) -> str | None:
    if isinstance(name, bytes):
        return name.decode("ascii", "replace")
    return name if isinstance(name, str) else None


def _is_this_machine(host: str) -> bool:
    return host in ("", "localhost", "0.0.0.0", "::", "::1", socket.gethostname()) or host.startswith("127.")  # noqa: S104


def _callers() -> tuple[tuple[str, int], ...]:
    found: list[tuple[str, int]] = []
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] (`inspect` is slow, and calls it)
    while frame is not None and len(found) < 100:
        found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)
