"""What the client can do: one look at what it says, in the beginning."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, cast

from lsprotocol import types

__all__ = ["ClientCapabilities"]


@dataclass(frozen=True, slots=True)
class ClientCapabilities:
    """The answers that the server asks for."""

    pulls_diagnostics: bool = False
    """Then nothing is pushed for texts, or each problem would be shown twice."""
    refreshes_diagnostics: bool = False
    shows_related: bool = False
    shows_rule_pages: bool = False
    fades_what_is_unnecessary: bool = False
    changes_documents: bool = False
    """Whether an edit may name the version that it is for."""
    takes_code_actions: bool = False
    """As literals; otherwise only commands."""
    resolves_edits: bool = False
    shows_markdown: bool = False
    shows_documents: bool = False
    refreshes_code_lenses: bool = False
    refreshes_inlay_hints: bool = False
    registers_watchers: bool = False
    """Whether it tells of files that change, where it is asked to."""
    shows_progress: bool = False
    """Of work that the server begins."""
    takes_probe_results: bool = False
    encoding: str = types.PositionEncodingKind.Utf16.value

    @classmethod
    def of(cls, capabilities: types.ClientCapabilities, encoding: str) -> ClientCapabilities:
        """The digest of what the client says, and the unit of positions that was agreed on."""

        def has(path: str) -> bool:
            return bool(_at(capabilities, path))

        pulls = _at(capabilities, "text_document.diagnostic") is not None
        of_diagnostics = "text_document.diagnostic" if pulls else "text_document.publish_diagnostics"
        # Before 3.18 these were said of pushed diagnostics only, and clients that pull still say them there.
        pushed = "text_document.publish_diagnostics"
        resolved: Any = _at(capabilities, "text_document.code_action.resolve_support.properties") or ()
        tags: Any = (
            _at(capabilities, f"{of_diagnostics}.tag_support.value_set")
            or _at(capabilities, f"{pushed}.tag_support.value_set")
            or ()
        )
        formats: Any = _at(capabilities, "text_document.hover.content_format") or ()
        return cls(
            pulls_diagnostics=pulls,
            refreshes_diagnostics=has("workspace.diagnostics.refresh_support"),
            shows_related=has(f"{of_diagnostics}.related_information") or has(f"{pushed}.related_information"),
            shows_rule_pages=has(f"{of_diagnostics}.code_description_support")
            or has(f"{pushed}.code_description_support"),
            fades_what_is_unnecessary=types.DiagnosticTag.Unnecessary in tags,
            changes_documents=has("workspace.workspace_edit.document_changes"),
            takes_code_actions=has("text_document.code_action.code_action_literal_support"),
            resolves_edits="edit" in resolved and has("text_document.code_action.data_support"),
            shows_markdown=types.MarkupKind.Markdown in formats,
            shows_documents=has("window.show_document.support"),
            refreshes_code_lenses=has("workspace.code_lens.refresh_support"),
            refreshes_inlay_hints=has("workspace.inlay_hint.refresh_support"),
            registers_watchers=has("workspace.did_change_watched_files.dynamic_registration"),
            shows_progress=has("window.work_done_progress"),
            takes_probe_results=_experimental(capabilities).get("probeResults") is True,
            encoding=encoding,
        )

    def described(self) -> dict[str, object]:
        """For the report on what the server works with."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def _experimental(capabilities: types.ClientCapabilities) -> dict[str, object]:
    said: object = capabilities.experimental
    return cast("dict[str, object]", said) if isinstance(said, dict) else {}


def _at(capabilities: object, path: str) -> object:
    found = capabilities
    for name in path.split("."):
        found = getattr(found, name, None)
        if found is None:
            return None
    return found
