"""What pygls 2.1 gets wrong, set right; each with its reason, and a test in `tests/server/test_workarounds.py`.

Everything that leans on pygls's own internals is here, so that a new release is one module to look at.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Any, BinaryIO, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

__all__ = ["EditorProtocol", "EditorServer", "claim_stdout", "messages"]

_LOGGER = logging.getLogger("llm_lsp.server")

_LENGTH = re.compile(rb"Content-Length:[ \t]*(\d{1,18})[ \t]*\r?\n", re.IGNORECASE)
_LONGEST = 1 << 30

_PARSE_ERROR, _INVALID_REQUEST, _INVALID_PARAMS, _INTERNAL_ERROR = -32700, -32600, -32602, -32603
_NOT_INITIALIZED = -32002

_OURS = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
    types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
    types.WORKSPACE_EXECUTE_COMMAND,
)
"""Methods for which pygls has handlers of its own that it calls instead of those that are registered.

Its documents split lines at form feeds and other characters that no editor takes for a line end, put an edit beyond
the end of a line before its last character, and lose the text where a change names a document that is not open.
Its `executeCommand` runs a command under an id of its own, so that a cancelled request leaves the command running.
"""


def claim_stdout() -> BinaryIO:
    """The standard output for the protocol alone; whatever else writes there, from C too, writes to stderr from now on.

    A single `print` between two messages ends the session for every client.
    """
    sys.stdout.flush()
    protocol = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return protocol


def messages(stream: BinaryIO) -> Iterator[bytes]:
    """The bodies of the messages in a stream, until it ends.

    pygls's reader knows only one spelling of the header, and a wrong length makes it wait for ever. After a wrong
    length this one goes on at the next header, wherever in a line that begins.
    """
    length: int | None = None
    while True:
        line = stream.readline()
        if not line:
            return
        found = _LENGTH.search(line)
        if found is not None:
            length = int(found[1])
        elif not line.strip() and length is not None:
            if length > _LONGEST:
                _LOGGER.error("a message claims to be %d bytes long; it is passed over", length)
            else:
                body = stream.read(length)
                if len(body) < length:
                    return
                yield body
            length = None


class _Writer:
    """Where answers go; a client that has left is no error of whoever writes next."""

    def __init__(self, stream: BinaryIO, gone: Callable[[], None]) -> None:
        self._stream = stream
        self._gone = gone

    def write(self, data: bytes) -> None:
        try:
            self._stream.write(data)
            self._stream.flush()
        except (OSError, ValueError):
            self._gone()

    def close(self) -> None:
        """Nothing: the stream is closed by who opened it."""


class EditorProtocol(LanguageServerProtocol):
    """The protocol as the specification has it."""

    exit_code: int | None = None
    """Set when the session is over."""
    _is_initialized = False

    def _register_builtin_features(self) -> None:
        super()._register_builtin_features()  # type: ignore[no-untyped-call]
        builtin = cast("dict[str, Any]", self.fm.builtin_features)  # pyright: ignore[reportUnknownMemberType]
        for method in _OURS:
            builtin.pop(method, None)

    # ------------------------------------------------------------ messages

    def connect(self, stream: BinaryIO, gone: Callable[[], None]) -> None:
        """Write answers to `stream`; `gone` is called where nobody reads them."""
        self.set_writer(cast("Any", _Writer(stream, gone)))

    def receive(self, body: bytes) -> None:
        """Handle one message; whatever it holds, this does not raise.

        pygls leaves a request that it can't make sense of without an answer, so that the client waits for ever, and
        takes every object in a message that has a key `jsonrpc` for a message.
        """
        try:
            data: object = json.loads(body)
        except (ValueError, RecursionError) as error:
            self._refuse(None, _PARSE_ERROR, f"not JSON: {error}")
            return
        message = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        if message.get("jsonrpc") != "2.0":
            self._refuse(None, _INVALID_REQUEST, "not a message of JSON-RPC 2.0")
            return
        request_id = message.get("id") if "method" in message else None
        refusal = self._refusal(message) if request_id is not None else None
        if refusal is not None:
            self._refuse(request_id, *refusal)
            return
        try:
            structured: Any = self.structure_message(message)
        except JsonRpcException:
            if "method" in message:
                self._refuse(request_id, _INVALID_PARAMS, f"the parameters of `{message['method']}` are not valid")
            return
        if message.get("method") == types.INITIALIZE:
            self._is_initialized = True
        elif not self._is_initialized and message.get("method") != types.EXIT:
            return  # notifications before `initialize` are dropped
        try:
            self.handle_message(structured)
        except Exception:
            _LOGGER.exception("a message could not be handled")

    def _refusal(self, message: dict[str, Any]) -> tuple[int, str] | None:
        """Why a request is not answered now; pygls answers none after `shutdown`, and too many before `initialize`."""
        is_first = message["method"] == types.INITIALIZE
        if self._shutdown:
            return _INVALID_REQUEST, "the server is shutting down"
        if is_first and self._is_initialized:
            return _INVALID_REQUEST, "the server is initialized already"
        if not is_first and not self._is_initialized:
            return _NOT_INITIALIZED, "the server is not initialized yet"
        return None

    def _refuse(self, request_id: Any, code: int, message: str) -> None:  # noqa: ANN401 (JSON)
        _LOGGER.error("%s", message)
        # Without an id only what could not be read is answered; a notification never is.
        if request_id is not None or code in (_PARSE_ERROR, _INVALID_REQUEST):
            # Not by pygls, which leaves out an id that is null.
            error = {"code": code, "message": message}
            self._send_data({"jsonrpc": "2.0", "id": request_id, "error": error})

    def _send_response(self, msg_id: Any, result: Any = None, error: types.ResponseError | None = None) -> None:  # noqa: ANN401 (as in pygls)
        """As pygls does, without the traceback that it puts into errors: the log has it, and a client shows it."""
        if error is not None and error.code == _INTERNAL_ERROR:
            error = types.ResponseError(error.code, error.message)
        super()._send_response(msg_id, result, error)

    def _execute_handler(
        self,
        msg_id: Any,  # noqa: ANN401 (as in pygls)
        handler: Any,  # noqa: ANN401 (as above)
        callback: Any,  # noqa: ANN401 (as above)
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """As pygls does, but the future of a handler is forgotten when it is done: 2 KB for each notification."""
        super()._execute_handler(msg_id, handler, callback, args, kwargs)
        future: Future[Any] | None = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))

    # ------------------------------------------------------------ the end

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_: Any) -> None:  # type: ignore[override]  # noqa: ANN401 (as in pygls)
        """Cancel what is in flight; pygls changes the dictionary that it walks through here, and fails."""
        current = self.msg_id
        for msg_id, future in list(self._request_futures.items()):
            if msg_id != current and not future.done():
                future.cancel()
        handler = cast("dict[str, Any]", self.fm.features).get(types.SHUTDOWN)  # pyright: ignore[reportUnknownMemberType]
        if handler is not None:
            handler(None)
        self._shutdown = True

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]  # noqa: ANN401 (as in pygls)
        """End the session with 0 after `shutdown`, 1 otherwise; pygls ends its process with 0 over stdio."""
        self.exit_code = 0 if self._shutdown else 1


class EditorServer(LanguageServer):
    """pygls's server with that protocol.

    Args:
        name: and `version`, as the client is told.
        on_error: told of failures that no answer tells the client of; pygls would show a message for each.
        notebooks: which notebooks are synchronised.
    """

    def __init__(
        self,
        name: str,
        version: str,
        on_error: Callable[[Exception], None],
        notebooks: types.NotebookDocumentSyncOptions,
    ) -> None:
        self._on_error = on_error
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            name,
            version,
            text_document_sync_kind=types.TextDocumentSyncKind.Incremental,
            notebook_document_sync=notebooks,
            protocol_cls=EditorProtocol,
        )

    def handle(self, method: str, handler: Callable[..., Any], options: object = None) -> None:
        """Register a handler; pygls writes attributes to what it is given, which a bound method does not take."""
        self.feature(method, options)(partial(handler))

    @property
    def editor_protocol(self) -> EditorProtocol:
        """The protocol, by its own class."""
        return cast("EditorProtocol", self.protocol)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log it, for pygls shows a popup for each: one for every keystroke, where a handler fails."""
        del source
        self._on_error(error)
