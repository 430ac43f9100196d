"""The whole workspace checked, file by file, between the checks of what is being typed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from lsprotocol import types

from llm_lsp.decoding import with_unix_newlines
from llm_lsp.server.checking import Result
from llm_lsp.server.documents import Document, TextDocument
from llm_lsp.server.session import Session
from llm_lsp.server.uris import key_of, uri_of
from llm_lsp.source import Source

__all__ = ["FileOnDisk", "Survey"]


@dataclass(frozen=True, eq=False)
class FileOnDisk(TextDocument):
    """A file that is not open."""

    data: bytes = field(default=b"", repr=False)
    stamp: tuple[int, int] = (0, 0)
    """Time of the last change and size, when it was read."""

    def source(self, shown_path: str, max_size: int, before: Source | None = None) -> Source:
        """The bytes as the linter takes them."""
        return Source.from_bytes(shown_path, self.data, max_size=max_size, kind="python", before=before)


class Survey:
    """One look at all Python files of the workspace that are not open; those that are have reports of their own.

    Notebooks are left out, since no client can show a diagnostic in a cell of one that is closed.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    async def reports(
        self, known: Mapping[str, str]
    ) -> AsyncIterator[tuple[types.WorkspaceDocumentDiagnosticReport, int, int]]:
        """A report for each file, with how many are done and how many there are.

        Args:
            known: the result ids that the client has, by URI; a file of which it has one and that is gone is cleared.
        """
        session = self._session
        paths = await session.in_worker(self._paths)
        ids = {key_of(uri): value for uri, value in known.items()}
        seen: set[str] = set()
        for done, path in enumerate(paths, 1):
            uri = uri_of(path)
            seen.add(key_of(uri))
            if session.documents.at(path) is not None:
                continue
            result = await session.in_worker(partial(self._check, path))
            if result is None:
                continue
            if result.id == ids.get(key_of(uri)):
                yield types.WorkspaceUnchangedDocumentDiagnosticReport(uri, result.id), done, len(paths)
            else:
                items = [diagnostic for shown in result.reports.values() for diagnostic in shown]
                report = types.WorkspaceFullDocumentDiagnosticReport(uri, items, result_id=result.id)
                yield report, done, len(paths)
        for uri in known:
            if key_of(uri) not in seen and session.documents.document(uri) is None:
                yield types.WorkspaceFullDocumentDiagnosticReport(uri, []), len(paths), len(paths)

    def _paths(self) -> list[Path]:
        session = self._session
        files: dict[Path, None] = {}
        for folder in session.folders:
            if session.options.of(folder).enable:
                project = session.projects.project_of(folder / "any.py")
                files.update((file.path, None) for file in project.files() if file.path.suffix == ".py")
        return list(files)

    def _check(self, path: Path) -> Result | None:
        before = self._session.surveyed.get(path)
        try:
            document = _read(path, before.document if before is not None else None)
        except OSError:
            self._session.surveyed.pop(path, None)
            return None
        result = self._session.checker.check(document, before, lambda: False)
        self._session.surveyed[path] = result
        return result


def _read(path: Path, before: Document | None) -> FileOnDisk:
    status = path.stat()
    stamp = (status.st_mtime_ns, status.st_size)
    if isinstance(before, FileOnDisk) and before.stamp == stamp:
        return before
    data = path.read_bytes()
    return FileOnDisk(uri_of(path), 0, "python", with_unix_newlines(data.decode("utf-8-sig", "replace")), data, stamp)
