"""Edits as the client takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from llm_lsp.server.capabilities import ClientCapabilities

__all__ = ["workspace_edit"]


def workspace_edit(
    capabilities: ClientCapabilities, edits: Iterable[tuple[str, int | None, Sequence[types.TextEdit]]]
) -> types.WorkspaceEdit:
    """Edits by URI and version; with versions for clients that check them."""
    if capabilities.changes_documents:
        return types.WorkspaceEdit(
            document_changes=[
                types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, version), list(each))
                for uri, version, each in edits
            ]
        )
    return types.WorkspaceEdit(changes={uri: list(each) for uri, _, each in edits})
