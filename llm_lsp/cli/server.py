"""`llm-lint server`: the language server."""

from __future__ import annotations

import gc
from argparse import Namespace

from llm_lsp.cli.usage import UsageError

__all__ = ["run"]


def run(options: Namespace) -> int:
    """Serve one client until it leaves, and return the exit code."""
    # The protocol's types are a hundred thousand objects that stay: looking for garbage among them takes a seventh of
    # the start. `serve` turns the collector on again.
    gc.disable()
    from llm_lsp.server.app import serve_stdio, serve_tcp

    if options.tcp is None:
        return serve_stdio(options.log_level)
    host, colon, port = options.tcp.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65_535:
        raise UsageError(f"--tcp takes HOST:PORT, such as 127.0.0.1:2087, and got `{options.tcp}`")
    return serve_tcp(host.strip("[]") or "127.0.0.1", int(port), options.log_level)
