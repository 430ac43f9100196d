"""What an editor shows of a probe's result: diagnostics, hints and a line above the class.

A result speaks of a file as it was saved. The text that is open may be another one: what stands in lines that were not
touched moves with them, the rest is not shown any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from lsprotocol import types

from llm_lsp.diagnostic import Position, Range
from llm_lsp.probe.protocol import Done, Error, Frame, Notice, outcomes
from llm_lsp.probe.wording import summary
from llm_lsp.server.documents import TextDocument
from llm_lsp.server.positions import Lines
from llm_lsp.server.uris import uri_of

__all__ = ["SOURCE", "ProbeView", "lines_of"]

SOURCE = "llm-lint probe"

_QUIET_NOTICES = frozenset({"length", "network", "portability", "unconfirmed", "unsaved"})
"""Worth knowing; the other kinds say that something is most likely wrong."""


class ProbeView(NamedTuple):
    """One result, with the files that it speaks of as they were."""

    name: str | None
    kind: str
    done: Done
    texts: dict[Path, list[str]]
    number: int
    """Another one for every result."""

    def diagnostics(self, text: TextDocument, encoding: str, *, shows_related: bool) -> Iterator[types.Diagnostic]:
        """Those of a text that is open, in the client's units."""
        row_now = self._rows(text)
        if row_now is None or text.path is None:
            return
        for done in outcomes(self.done):
            error = done.result.get("error")
            if done.status == "user_error" and error is not None:
                yield from self._of_error(done, error, text, row_now, encoding, shows_related=shows_related)
            for notice in done.result.get("notices") or ():
                row = row_now(notice.get("line")) if _is(notice.get("file"), text.path) else None
                if row is not None:
                    yield _of_notice(notice, _range(text, row, {}, encoding))

    def _of_error(
        self,
        done: Done,
        error: Error,
        text: TextDocument,
        row_now: Callable[[int | None], int | None],
        encoding: str,
        *,
        shows_related: bool,
    ) -> Iterator[types.Diagnostic]:
        *outer, frame = error.get("frames") or [Frame()]
        row = row_now(frame.get("line")) if _is(frame.get("file"), text.path) else None
        if row is None:
            return
        is_certain = done.result.get("confirmed", True)
        yield types.Diagnostic(
            range=_range(text, row, frame, encoding),
            message=error.get("message") or "this fails",
            severity=types.DiagnosticSeverity.Error if is_certain else types.DiagnosticSeverity.Warning,
            source=SOURCE,
            related_information=[_related(each) for each in outer] if outer and shows_related else None,
        )

    def hints(self, text: TextDocument, encoding: str) -> Iterator[types.InlayHint]:
        """The shapes behind the names that `forward` assigns."""
        row_now = self._rows(text)
        if row_now is None or text.path is None:
            return
        for done in outcomes(self.done):
            for each in done.result.get("shapes") or ():
                row = row_now(each.get("line")) if _is(each.get("file"), text.path) else None
                if row is None:
                    continue
                found = re.search(rf"(?<![\w.]){re.escape(each.get('name') or '')}\b", text.lines.line(row - 1))
                if found is not None:
                    position = text.lines.to_client(Position(row, found.end() + 1), encoding)
                    label = f": {each.get('shape')}"
                    yield types.InlayHint(position, label, types.InlayHintKind.Type, tooltip="seen by llm-lint probe")

    def summaries(self) -> Iterator[tuple[str | None, str]]:
        """What stands above each class, by its name; under the name that was asked for what has no other."""
        if "classes" not in self.done.result:
            yield self.name, summary(self.done)
            return
        for done in outcomes(self.done):
            yield str(done.result.get("target")), summary(done)

    def _rows(self, text: TextDocument) -> Callable[[int | None], int | None] | None:
        before = self.texts.get(text.path) if text.path is not None else None
        return None if before is None else _moved(before, _split(text.lines))


def lines_of(done: Done, file: Path) -> dict[Path, list[str]]:
    """The files that a result speaks of, as they lie on the disk."""
    named = {file}
    for each in outcomes(done):
        frames = (each.result.get("error") or {}).get("frames") or ()
        places = [*frames, *(each.result.get("notices") or ()), *(each.result.get("shapes") or ())]
        named |= {Path(name) for place in places if (name := place.get("file"))}
    texts: dict[Path, list[str]] = {}
    for path in named:
        try:
            texts[path] = _split(Lines(path.read_bytes().decode("utf-8-sig", "replace")))
        except OSError:
            continue
    return texts


def _split(lines: Lines) -> list[str]:
    return [lines.line(number) for number in range(len(lines.starts))]


def _moved(before: Sequence[str], now: Sequence[str]) -> Callable[[int | None], int | None]:
    """Where a row of one text stands in another, from 1; None in the part where they differ."""
    most = min(len(before), len(now))
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, now, strict=False)))
    tail = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(before), reversed(now), strict=False))
    )
    tail = min(tail, most - same)

    def row_now(row: int | None) -> int | None:
        if row is None or not 0 < row <= len(before):
            return None
        if row <= same:
            return row
        return row + len(now) - len(before) if row > len(before) - tail else None

    return row_now


def _is(file: str | None, path: Path | None) -> bool:
    return file is not None and path is not None and (file == str(path) or Path(file) == path)


def _range(text: TextDocument, row: int, frame: Frame, encoding: str) -> types.Range:
    """The columns of a frame, or else the whole line without its indentation."""
    line = text.lines.line(row - 1)
    column, end = frame.get("col"), frame.get("end_col")
    rows = (frame.get("end_line") or frame.get("line") or row) - (frame.get("line") or row)
    if column is None or end is None or (rows == 0 and end <= column):
        column, end, rows = len(line) - len(line.lstrip()), len(line.rstrip()), 0
    place = Range(Position(row, column + 1), Position(row + rows, end + 1))
    return text.lines.range_to_client(place, encoding)


def _of_notice(notice: Notice, place: types.Range) -> types.Diagnostic:
    is_quiet = notice.get("kind") in _QUIET_NOTICES
    return types.Diagnostic(
        range=place,
        message=notice.get("message") or "",
        severity=types.DiagnosticSeverity.Information if is_quiet else types.DiagnosticSeverity.Warning,
        source=SOURCE,
    )


def _related(frame: Frame) -> types.DiagnosticRelatedInformation:
    row = (frame.get("line") or 1) - 1
    place = types.Range(types.Position(row, 0), types.Position(row, 0))
    location = types.Location(uri_of(Path(frame.get("file") or "")), place)
    return types.DiagnosticRelatedInformation(location, f"called in `{frame.get('function')}`")
