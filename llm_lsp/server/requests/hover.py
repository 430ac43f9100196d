"""`textDocument/hover`: the page on a rule over its code, the card of a checkpoint over its id."""

from __future__ import annotations

import re

from lsprotocol import types

from llm_lsp.diagnostic import Position, Range
from llm_lsp.knowledge.checkpoints import Checkpoint
from llm_lsp.server.documents import TextDocument
from llm_lsp.server.pages import checkpoint_markdown, rule_markdown
from llm_lsp.server.projects import Unit
from llm_lsp.server.session import Session

__all__ = ["handle"]

_SUPPRESSION = re.compile(r"#.*?\b(?:noqa|llm-lint\s*:\s*ignore)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][\w-]*")
_STRING = re.compile(r"""(?P<quote>["'])(?P<text>[^"'\n]{1,200})(?P=quote)""")


async def handle(session: Session, params: types.HoverParams) -> types.Hover | None:
    """What is known of the word under the cursor."""
    text = session.documents.text(params.text_document.uri)
    if text is None or not text.is_python:
        return None
    encoding = session.capabilities.encoding
    position = text.lines.from_client(params.position, encoding)
    line = text.lines.line(position.row - 1)
    found = _rule_at(session, line, position) or await _checkpoint_at(session, text, line, position)
    if found is None:
        return _model_at(session, text, position)
    page, (start, end) = found
    range_ = Range(Position(position.row, start + 1), Position(position.row, end + 1))
    return _hover(session, page, text.lines.range_to_client(range_, encoding))


def _hover(session: Session, page: str, range_: types.Range) -> types.Hover:
    kind = types.MarkupKind.Markdown if session.capabilities.shows_markdown else types.MarkupKind.PlainText
    return types.Hover(types.MarkupContent(kind, page), range_)


def _rule_at(session: Session, line: str, position: Position) -> tuple[str, tuple[int, int]] | None:
    comment = _SUPPRESSION.search(line)
    if comment is None:
        return None
    for found in _WORD.finditer(line, comment.start()):
        if found.start() < position.column <= found.end() + 1:
            word = found[0]
            for rule in session.rules:
                if word.upper() == rule.code or word.lower() == rule.name:
                    return rule_markdown(rule), found.span()
    return None


async def _checkpoint_at(
    session: Session, text: TextDocument, line: str, position: Position
) -> tuple[str, tuple[int, int]] | None:
    found = next((each for each in _STRING.finditer(line) if each.start() < position.column <= each.end() + 1), None)
    document = session.documents.document(text.uri)
    if found is None or document is None:
        return None

    def look(unit: Unit | None) -> Checkpoint | None:
        return None if unit is None else unit.project.world_for(unit.file).checkpoint(found["text"])

    before = session.latest(text.uri)
    if before is not None and before.unit is not None:
        # Nobody waits for the check of what was typed before, to be told of a checkpoint.
        checkpoint = look(before.unit)
    else:
        checkpoint = await session.in_worker(lambda: look(session.projects.unit(document)))
    return None if checkpoint is None else (checkpoint_markdown(checkpoint), found.span("text"))


def _model_at(session: Session, text: TextDocument, position: Position) -> types.Hover | None:
    """What the facts of the last check know of the model that is called here; nothing is checked for this."""
    result = session.last(text.uri)
    for run in result.runs if result is not None else ():
        place = run.location.range
        if result is None or result.document.text_at(run.location.cell) is not text:
            continue
        said = run.said()
        if said and place.start <= position <= place.end:
            page = "\n".join([f"`{run.callee}` here:", "", *(f"- {each}" for each in said)])
            return _hover(session, page, text.lines.range_to_client(place, session.capabilities.encoding))
    return None
