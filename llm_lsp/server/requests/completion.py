"""`textDocument/completion`: checkpoint ids where one is loaded, and rules where one is suppressed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from llm_lsp.diagnostic import Position, Range
from llm_lsp.registry import explanation
from llm_lsp.server.documents import TextDocument
from llm_lsp.server.session import Session

__all__ = ["TRIGGERS", "handle"]

TRIGGERS = ['"', "'", "/", "["]

_BEFORE = 400
"""So many characters before the cursor are looked at: a call may begin some lines above."""
_MOST = 200
_CHECKPOINT = re.compile(
    r"""(?:\bfrom_pretrained\(\s*(?:pretrained_model_name_or_path\s*=\s*)?"""
    r"""|\bpipeline\([^()]*?\b(?:model|tokenizer)\s*=\s*)(?P<quote>["'])(?P<typed>[^"'\n]*)\Z"""
)
_SUPPRESSION = re.compile(
    r"#\s*(?:noqa\s*:\s*|llm-lint\s*:\s*ignore(?:-file)?\s*\[)(?:[\w-]+\s*[, ]\s*)*(?P<typed>[\w-]*)\Z", re.IGNORECASE
)


def handle(session: Session, params: types.CompletionParams) -> types.CompletionList | None:
    """What may stand at the cursor, in the place of the word that is being typed."""
    text = session.documents.text(params.text_document.uri)
    if text is None or not text.is_python:
        return None
    encoding = session.capabilities.encoding
    offset = text.lines.offset(params.position, encoding)
    position = text.lines.from_client(params.position, encoding)
    before = text.text[max(0, offset - _BEFORE) : offset]
    line = text.lines.line(position.row - 1)[: position.column - 1]
    if (found := _CHECKPOINT.search(before)) is not None:
        items = list(_checkpoints(found["typed"]))
    elif (found := _SUPPRESSION.search(line)) is not None:
        items = list(_rules(session))
    else:
        return None
    replaced = _range(text, position, found["typed"], encoding)
    for item in items:
        item.text_edit = types.TextEdit(replaced, item.label)
    return types.CompletionList(is_incomplete=len(items) > _MOST, items=items[:_MOST])


def _range(text: TextDocument, position: Position, typed: str, encoding: str) -> types.Range:
    start = Position(position.row, position.column - len(typed))
    return text.lines.range_to_client(Range(start, position), encoding)


def _checkpoints(typed: str) -> Iterator[types.CompletionItem]:
    from llm_lsp.knowledge.checkpoints import known_ids

    wanted = typed.lower()
    for name in sorted(known_ids(), key=str.lower):
        if wanted in name.lower():
            yield types.CompletionItem(name, kind=types.CompletionItemKind.Value, filter_text=name)


def _rules(session: Session) -> Iterator[types.CompletionItem]:
    for rule in session.rules:
        yield types.CompletionItem(
            rule.code,
            kind=types.CompletionItemKind.EnumMember,
            detail=rule.name,
            documentation=explanation(rule).partition("\n")[0],
            filter_text=f"{rule.code} {rule.name}",
        )
