"""`textDocument/codeAction`: answered from what the diagnostics brought along; nothing is linted for the menu."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from lsprotocol import types

from llm_lsp.server.client_edits import workspace_edit
from llm_lsp.server.documents import Notebook, TextDocument
from llm_lsp.server.fixing import has_safe_fix
from llm_lsp.server.reports import SOURCE
from llm_lsp.server.requests.code_action_resolve import edit_of_all_fixes
from llm_lsp.server.requests.execute_command import EXPLAIN
from llm_lsp.server.session import LOGGER, Session

__all__ = ["FIX_ALL", "NOTEBOOK_FIX_ALL", "handle"]

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.llm-lint"
NOTEBOOK_FIX_ALL = f"notebook.{FIX_ALL}"
_QUICK_FIX = types.CodeActionKind.QuickFix.value


async def handle(session: Session, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The fixes, suppressions and explanations of the diagnostics, and all safe fixes at once."""
    text = session.documents.text(params.text_document.uri)
    if text is None or not session.capabilities.takes_code_actions:
        return []
    actions: list[types.CodeAction] = []
    if _wants(params.context.only, _QUICK_FIX):
        for diagnostic, data in _with_data(session, text, params):
            actions += _of_diagnostic(session, diagnostic, data)
    fix_all = await _fix_all(session, text, params.context.only)
    return [*actions, *([fix_all] if fix_all is not None else [])]


def _wants(only: Sequence[types.CodeActionKind | str] | None, kind: str) -> bool:
    """Whether a kind is asked for: it, or a kind that it is a part of; everything where nothing is named."""
    names = [str(getattr(each, "value", each)) for each in only or ()]
    return not names or any(name in ("", kind) or kind.startswith(f"{name}.") for name in names)


def _with_data(
    session: Session, text: TextDocument, params: types.CodeActionParams
) -> Iterator[tuple[types.Diagnostic, Mapping[str, Any]]]:
    """The diagnostics that are asked about, with the data of ours for this very version of the text."""
    result = session.last(text.uri)
    known = result.reports.get(text.uri, ()) if result is not None else ()
    asked = [each for each in params.context.diagnostics if each.source == SOURCE]
    if not params.context.diagnostics:
        asked = [each for each in known if _overlap(each.range, params.range)]
    for diagnostic in asked:
        data = diagnostic.data
        if not _is_of(data, text.version):
            same = (each for each in known if (each.code, each.range) == (diagnostic.code, diagnostic.range))
            data = next((each.data for each in same), None)
        if _is_of(data, text.version):
            yield diagnostic, cast("Mapping[str, Any]", data)


def _is_of(data: object, version: int) -> bool:
    return isinstance(data, dict) and cast("Mapping[str, object]", data).get("version") == version


def _overlap(one: types.Range, other: types.Range) -> bool:
    def ends(range_: types.Range) -> tuple[tuple[int, int], tuple[int, int]]:
        return (range_.start.line, range_.start.character), (range_.end.line, range_.end.character)

    (start, end), (other_start, other_end) = ends(one), ends(other)
    return start <= other_end and other_start <= end


def _of_diagnostic(
    session: Session, diagnostic: types.Diagnostic, data: Mapping[str, Any]
) -> Iterator[types.CodeAction]:
    code = str(diagnostic.code)
    try:
        fix = data.get("fix")
        if fix is not None:
            title = f"llm-lint ({code}): {fix['title']}" + ("" if fix["safe"] else " (unsafe)")
            yield _action(session, title, diagnostic, fix["edits"], is_preferred=bool(fix["safe"]))
        for key, where in (("line", "line"), ("file", "file")):
            if data.get(key):
                yield _action(session, f"llm-lint: Disable {code} for this {where}", diagnostic, data[key])
    except (KeyError, TypeError, ValueError):
        LOGGER.warning("a client sent back data of a diagnostic that is not ours")
        return
    explain = types.Command(f"llm-lint: Explain {code}", EXPLAIN, arguments=[code])
    yield types.CodeAction(explain.title, _QUICK_FIX, diagnostics=[diagnostic], command=explain)


def _action(
    session: Session,
    title: str,
    diagnostic: types.Diagnostic,
    edits: Iterable[Mapping[str, Any]],
    *,
    is_preferred: bool | None = None,
) -> types.CodeAction:
    converted = [(each["uri"], each["version"], [_text_edit(edit) for edit in each["edits"]]) for each in edits]
    return types.CodeAction(
        title,
        _QUICK_FIX,
        diagnostics=[diagnostic],
        is_preferred=is_preferred or None,
        edit=workspace_edit(session.capabilities, converted),
    )


def _text_edit(edit: Mapping[str, Any]) -> types.TextEdit:
    start, end = edit["range"]["start"], edit["range"]["end"]
    return types.TextEdit(
        types.Range(
            types.Position(int(start["line"]), int(start["character"])),
            types.Position(int(end["line"]), int(end["character"])),
        ),
        str(edit["newText"]),
    )


async def _fix_all(
    session: Session, text: TextDocument, only: Sequence[types.CodeActionKind | str] | None
) -> types.CodeAction | None:
    """The action that applies all safe fixes; for a notebook only as a whole, since cells are not programs."""
    document = session.documents.document(text.uri)
    kind = NOTEBOOK_FIX_ALL if isinstance(document, Notebook) else FIX_ALL
    if document is None or not _wants(only, kind):
        return None
    result = session.last(text.uri)
    if not only and (result is None or not has_safe_fix(result.reports)):
        return None
    action = types.CodeAction("llm-lint: Fix all safe problems", kind, data={"fixAll": document.uri})
    if session.capabilities.resolves_edits:
        return action
    action.edit = await edit_of_all_fixes(session, document.uri)
    return action if action.edit is not None else None
