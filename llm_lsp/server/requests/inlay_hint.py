"""`textDocument/inlayHint`: what the editor's settings ask for, and the shapes that a run has shown."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["handle"]


async def handle(session: Session, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Behind each call of a model: whether gradients are on, and the precision, as far as that is known.

    Behind names that `forward` assigns: their shapes in the last run of the probe.
    """
    uri = params.text_document.uri
    document, shown = session.documents.document(uri), session.documents.text(uri)
    if document is None or shown is None:
        return []
    options = session.options.of(document.path or session.projects.folder_of(None))
    lines = range(params.range.start.line, params.range.end.line + 1)
    hints: list[types.InlayHint] = []
    if options.shape_hints:
        hints += [hint for hint in session.probing.hints(shown) if hint.position.line in lines]
    if not (options.grad_mode_hints or options.precision_hints):
        return hints
    result = await session.current(uri)
    for run in result.runs if result is not None else ():
        if result is None or result.document.text_at(run.end.cell) is not shown:
            continue
        words = [
            run.gradient_words if options.grad_mode_hints else None,
            run.precision_words if options.precision_hints else None,
        ]
        label = ", ".join(word for word in words if word)
        position = shown.lines.to_client(run.end.range.start, session.capabilities.encoding)
        if label and position.line in lines:
            hints.append(types.InlayHint(position, label, padding_left=True))
    return hints
