"""What the server says to its client without being asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from lsprotocol import types

__all__ = ["Client"]


class Client(Protocol):
    """The other end; its methods are called in the event loop and wait for nothing unless they are `async`."""

    def publish(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        """Replace what is shown of a text."""
        ...

    def show_message(self, message: str, kind: types.MessageType) -> None:
        """Tell the user."""
        ...

    def trace(self, message: str) -> None:
        """Tell who follows the session's trace."""
        ...

    def refresh_diagnostics(self) -> None:
        """Ask the client to pull again."""
        ...

    def refresh_code_lenses(self) -> None:
        """Ask the client to ask for code lenses again."""
        ...

    def refresh_inlay_hints(self) -> None:
        """Ask the client to ask for inlay hints again."""
        ...

    def register_watchers(self, names: Sequence[str]) -> None:
        """Ask to be told of changes in files with such names."""
        ...

    def show_document(self, uri: str) -> None:
        """Ask the client to open a document."""
        ...

    def send_probe_result(self, message: Mapping[str, object]) -> None:
        """What a run of the user's program has found out, for a client that shows it in a view of its own."""
        ...

    async def create_progress(self, token: types.ProgressToken) -> None:
        """Have the client show the progress of work that the server begins."""
        ...

    def send_partial_result(self, token: types.ProgressToken, value: object) -> None:
        """A part of the answer to a request that named a token for it."""
        ...

    def report_progress(self, token: types.ProgressToken, value: object) -> None:
        """The state of work that a request named a token for."""
        ...
