"""The examples of a rule as programs: their files, their marks, and the world around them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import dedent
from types import TracebackType

from llm_lsp.diagnostic import Location
from llm_lsp.knowledge import checkpoints
from llm_lsp.knowledge.checkpoints import Checkpoint
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.outlines import Outline
from llm_lsp.source import Source
from llm_lsp.versions import Requirement, normalised

__all__ = ["MARK", "Content", "ExampleWorld", "Line", "Program", "contents_of", "program_of", "source_of"]

MARK = "# <-"
FILE = "example.py"
SITE_PACKAGES = "site-packages"
"""The folder of an example's files that stands for the user's environment."""

Content = str | list[str]
"""The text of a module, or the code cells of a notebook."""


class Line(NamedTuple):
    """A line of an example."""

    path: str
    cell: int | None
    row: int

    @classmethod
    def of(cls, location: Location) -> Line:
        return cls(location.path, location.cell, location.range.start.row)

    def __str__(self) -> str:
        return f"{self.path}{'' if self.cell is None else f', cell {self.cell}'}, line {self.row}"


class Program(NamedTuple):
    """An example without its marks."""

    files: Mapping[str, Content]
    marks: Mapping[Line, tuple[str, ...]]
    """For each marked line the words of its marks, one mark for each report."""

    def text(self, line: Line) -> str:
        content = self.files[line.path]
        cell = content if isinstance(content, str) else content[(line.cell or 1) - 1]
        return [*cell.split("\n"), *[""] * line.row][line.row - 1]


def program_of(code: str | Mapping[str, str | list[str]]) -> Program:
    """An example's `code` or `fixed`; indentation that all lines share and blank lines around the text don't count."""
    files: dict[str, Content] = {}
    marks: dict[Line, tuple[str, ...]] = {}
    for path, content in ({FILE: code} if isinstance(code, str) else code).items():
        if isinstance(content, str):
            files[path] = _unmarked(_trimmed(content) + "\n", path, None, marks)
        else:
            files[path] = [
                _unmarked(_trimmed(cell), path, number, marks) for number, cell in enumerate(content, start=1)
            ]
    return Program(files, marks)


def source_of(path: str, content: Content) -> Source:
    """A file of an example, as the linter reads it."""
    if isinstance(content, str):
        return Source.from_text(path, content)
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell}
        for cell in content
    ]
    notebook: dict[str, object] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    return Source.from_bytes(path, json.dumps(notebook, indent=1).encode())


def contents_of(source: Source) -> Content:
    """The inverse of `source_of`, for a file that was changed."""
    if not source.is_notebook:
        return source.text
    return ["".join(cell["source"]) for cell in json.loads(source.data)["cells"]]


def _trimmed(text: str) -> str:
    return dedent(text).strip("\n").rstrip()


def _unmarked(text: str, path: str, cell: int | None, marks: dict[Line, tuple[str, ...]]) -> str:
    lines: list[str] = []
    for row, line in enumerate(text.split("\n"), start=1):
        code, *words = line.split(MARK)
        if words:
            marks[Line(path, cell, row)] = tuple(word.strip() for word in words)
        lines.append(code.rstrip() if words else line)
    return "\n".join(lines)


class ExampleWorld:
    """The surroundings of an example: its other files, its versions and checkpoints, and the table that we ship.

    To be entered as a context, since folders of checkpoints lie on the disk for so long.
    """

    def __init__(
        self,
        files: Mapping[str, Content],
        versions: Mapping[str, str],
        checkpoint_files: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.sources = {path: source_of(path, content) for path, content in files.items()}
        self._versions = {normalised(name): specifier for name, specifier in versions.items()}
        self._checkpoint_files = checkpoint_files
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> ExampleWorld:  # noqa: PYI034 - `Self` is newer than Python 3.10
        if self._checkpoint_files:
            self._folder = TemporaryDirectory()
            for name, files in self._checkpoint_files.items():
                for file, text in files.items():
                    path = Path(self._folder.name, name, file)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def version(self, distribution: str) -> Requirement | None:
        specifier = self._versions.get(normalised(distribution))
        return None if specifier is None else Requirement((specifier,), "the example")

    def checkpoint(self, name: str) -> Checkpoint | None:
        return checkpoints.resolve(name, [self._folder.name] if self._folder else [])

    def importers(self, path: str, names: Iterable[str]) -> list[Source]:
        wanted = frozenset(names)
        name = path.rpartition("/")[2].removesuffix(".py")
        imports = re.compile(rf"^\s*(?:from|import)\b.*\b{re.escape(name)}\b", re.MULTILINE)
        others = ((other, source) for other, source in sorted(self.sources.items()) if other != path)
        found = (source for _, source in others if imports.search(source.text))
        return [source for source in found if any(each in source.text for each in wanted)]

    def scripts(self, path: str) -> list[Source] | None:
        outlines = {other: Outline(source.text) for other, source in sorted(self.sources.items())}
        found: list[Source] = []
        modules, seen = [path] if path in outlines else [], {path}
        for module in modules:
            name = module.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2]
            for other, outline in outlines.items():
                if other not in seen and outline.leads_to(name, outlines[module].defined):
                    seen.add(other)
                    modules.append(other)
                    if outline.is_guarded or outline.runs or self.sources[other].is_notebook:
                        found.append(self.sources[other])
        return found

    def module(self, name: str, importer: str) -> Source | None:
        for path in _module_paths(name, importer):
            if path in self.sources:
                return self.sources[path]
        return None

    def installed(self, name: str, importer: str) -> Source | None:
        return self.module(name, f"{SITE_PACKAGES}/_" if not name.startswith(".") else importer)

    def definition(self, module: str, name: str) -> tuple[Source, str] | None:
        del module, name  # an example shows all that counts
        return None


def _module_paths(name: str, importer: str) -> Iterator[str]:
    folder = importer.split("/")[:-1]
    dots = len(name) - len(name.lstrip("."))
    parts = [part for part in name[dots:].split(".") if part]
    bases: Iterable[list[str]] = [[], folder]
    if dots:
        bases = [folder[: len(folder) - dots + 1]] if dots <= len(folder) + 1 else []
    for base in bases:
        stem = "/".join([*base, *parts])
        yield f"{stem}.py"
        yield f"{stem}/__init__.py" if stem else "__init__.py"
