"""`textDocument/codeLens`."""

from __future__ import annotations

from lsprotocol import types

from llm_lsp.server.session import Session

__all__ = ["PROBE", "PROBE_RESULT", "handle"]

PROBE = "llm-lint.probe"
PROBE_RESULT = "llm-lint.probeResult"


async def handle(session: Session, params: types.CodeLensParams) -> list[types.CodeLens]:
    """A lens above each module class and each function that builds a model; another with what a run has shown."""
    uri = params.text_document.uri
    document = session.documents.document(uri)
    # What stands in a lens runs the program.
    if document is None or not session.options.trusted:
        return []
    if not session.options.of(document.path or session.projects.folder_of(None)).check_shapes_lens:
        return []
    result = await session.current(uri)
    shown = session.documents.text(uri)
    lenses: list[types.CodeLens] = []
    for place in result.lenses if result is not None else ():
        text = result.document.text_at(place.location.cell) if result is not None else None
        if text is None or text is not shown:
            continue
        range_ = text.lines.range_to_client(place.location.range, session.capabilities.encoding)
        arguments = [{"uri": text.uri, "name": place.name, "kind": place.kind}]
        lenses.append(types.CodeLens(range_, types.Command("Check shapes", PROBE, arguments=arguments)))
        summary = session.probing.summary(text.uri, place.name)
        if summary is not None:
            lenses.append(types.CodeLens(range_, types.Command(summary, PROBE_RESULT, arguments=arguments)))
    return lenses
