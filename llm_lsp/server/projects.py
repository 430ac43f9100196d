"""The projects that open documents belong to: as the command line knows them, with unsaved texts instead of files.

All methods run in the one thread that lints, except where they say otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, NamedTuple

from llm_lsp.environment import EnvironmentNotFoundError
from llm_lsp.files import shown
from llm_lsp.outlines import Outline
from llm_lsp.project import Project, ProjectFile
from llm_lsp.registry import RuleEntry, enabled, known
from llm_lsp.remembering import Question
from llm_lsp.server.documents import Document, Documents, TextDocument
from llm_lsp.server.options import Options
from llm_lsp.settings import OWN_NAMES, Settings, SettingsError, check_codes
from llm_lsp.source import Source

__all__ = ["WATCHED", "EditorProject", "Projects", "Unit"]

_CELL_SCHEME = "vscode-notebook-cell:"
_SETTINGS_FILES = (*OWN_NAMES, "pyproject.toml")
_DECLARATIONS = ("setup.cfg", "uv.lock", "poetry.lock", "*requirements*.txt", "environment.y*ml", ".gitignore")
_CHECKPOINT_FILES = ("config.json", "generation_config.json", "tokenizer_config.json", "tokenizer.json")
WATCHED = ("*.py", *_SETTINGS_FILES, *_DECLARATIONS, *_CHECKPOINT_FILES)
"""Names of the files that another file's diagnostics may rest on."""


@dataclass
class _Memory:
    """What outlives a project: the settings that could last be used, and what is wrong with those that can't."""

    good: dict[Path, Settings] = field(default_factory=dict[Path, Settings])
    """By the folder that they hold for."""
    problems: dict[Path, SettingsError] = field(default_factory=dict[Path, SettingsError])
    """By the settings file."""

    words: dict[Path, tuple[tuple[int, int], frozenset[str]]] = field(
        default_factory=dict[Path, "tuple[tuple[int, int], frozenset[str]]"]
    )
    """Of the import statements of files, with the time of their last change and their size."""

    def keep(self, folder: Path, settings: Settings) -> None:
        """These settings can be used, so nothing is wrong with any file on the way from the folder up to them."""
        self.good[folder] = settings
        for path in settings.files:
            self.problems.pop(path, None)
        for each in (folder, *folder.parents):
            for path in [path for path in self.problems if path.parent == each]:
                del self.problems[path]
            if settings.files and each == settings.files[0].parent:
                break


class EditorProject(Project):
    """A project whose open documents count as the client sees them, and whose broken settings stop nobody."""

    _searches: ClassVar[int] = 0
    """The words of files are remembered."""

    def __init__(
        self, folder: Path, documents: Documents, rules: Iterable[RuleEntry], memory: _Memory, python: Path | None
    ) -> None:
        self._documents = documents
        self._names = known(rules)
        self._memory = memory
        self._checked: dict[Path, Settings] = {}
        self._parsed: dict[Path, tuple[Document, Source]] = {}
        self._stamps: dict[Path, tuple[int, int]] = {}
        """Of files on the disk: time of the last change and size, when they were read."""
        self._outlined: dict[Path, str] = {}
        """The states of files when their outlines were drawn."""
        self._folder_stamps: dict[Path, int] = {}
        """Of folders in which modules were looked for: time of the last change."""
        # Nobody names an open file as the command line's paths do, so that what is excluded is excluded.
        super().__init__([folder], python=python, overrides={"force_exclude": True})

    def settings_in(self, folder: Path) -> Settings:
        """The settings of a folder; where they can't be used, the last ones that could, else the defaults."""
        if folder not in self._checked:
            try:
                settings = super().settings_in(folder)
                check_codes(settings, self._names)
                self._memory.keep(folder, settings)
            except SettingsError as error:
                self._memory.problems[error.path] = error
                settings = self._memory.good.get(folder) or Settings(root=self.root_of(folder), force_exclude=True)
            self._checked[folder] = settings
        return self._checked[folder]

    def source(self, file: ProjectFile) -> Source:
        """A file's text as the client has it open, else as it lies on the disk now."""
        document = self._documents.at(file.path)
        if document is None or not document.is_python:
            self._parsed.pop(file.path, None)
            # Clients need not tell of files that change.
            status = file.path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if self._stamps.setdefault(file.path, stamp) != stamp:
                self._stamps[file.path] = stamp
                self._sources.pop(str(file.path), None)
            return super().source(file)
        kept = self._parsed.get(file.path)
        if kept is None or kept[0] is not document:
            kept = (document, document.source(file.shown_path, file.settings.max_source_size))
            self._parsed[file.path] = kept
        return kept[1]

    def stamp(self, question: Question) -> str:
        """Which files answer a question about modules, and in what state they are; empty for other questions."""
        match question:
            case ("module", name, importer):
                found = self.module_file(name, self.at(importer))
                return "none" if found is None else self._state(found)
            case ("importers", path, *_):
                return "".join(["importers", *map(self._state, self.importers_of(self.at(path)))])
            case ("scripts", path):
                return "".join(["scripts", *map(self._state, self.scripts_for(self.at(path)) or ())])
            case _:
                return ""

    def _state(self, file: Path) -> str:
        document = self._documents.at(file)
        if document is not None and document.is_python:
            return f"\n{file} {document.digest}"
        try:
            status = file.stat()
        except OSError:
            return f"\n{file}"
        return f"\n{file} {status.st_mtime_ns} {status.st_size}"

    def source_at(self, path: Path) -> Source:
        """That of a file as the client has it open, else as it lies on the disk."""
        return self.source(self.file(path))

    def written(self, file: Path) -> bytes:
        """The file as the client has it open, else as it lies on the disk."""
        document = self._documents.at(file)
        if document is None or not document.is_python:
            return super().written(file)
        return "\n".join(text.text for text in document.texts).encode("utf-8", "replace")

    def notice_files(self) -> None:
        """Look for modules again where files came or went, although nobody told of it."""
        if any(_changed_at(folder) != stamp for folder, stamp in self._folder_stamps.items()):
            self.forget_files()

    def _names_in(self, folder: Path) -> frozenset[str]:
        if folder not in self._listings:
            self._folder_stamps[folder] = _changed_at(folder)
        return super()._names_in(folder)

    def forget_files(self) -> None:
        """Look for modules and importers again; settings, versions and checkpoints stay as they are."""
        self._folder_stamps.clear()
        self._sources.clear()
        self._listings.clear()
        self._module_files.clear()
        self._walked.clear()
        self._importers.clear()

    def imported_words(self, file: Path) -> frozenset[str]:
        """Those of the file on the disk, remembered for as long as it stays as it is."""
        try:
            status = file.stat()
        except OSError:
            return frozenset()
        stamp = (status.st_mtime_ns, status.st_size)
        kept = self._memory.words.get(file)
        if kept is None or kept[0] != stamp:
            kept = (stamp, super().imported_words(file))
            self._memory.words[file] = kept
        return kept[1]

    def outline(self, file: Path) -> Outline:
        """That of the file as the client has it open, else as it lies on the disk."""
        state = self._state(file)
        if self._outlined.get(file) != state:
            self._outlined[file] = state
            self._outlines.pop(file, None)
        return super().outline(file)

    def scripts_for(self, path: Path) -> list[Path] | None:
        """Those that lead to a module now."""
        self._leading.clear()
        self._scripts.clear()
        return super().scripts_for(path)

    def importers_of(self, path: Path) -> list[Path]:
        """The importers on the disk, but of what is open those that import the module now."""
        found = set(super().importers_of(path))
        name, root = path.parent.name if path.stem == "__init__" else path.stem, self.root_of(path.parent)
        for document in self._documents:
            other = document.path
            if other is None or other == path or not document.is_python or self.root_of(other.parent) != root:
                continue
            if name in document.imported_words:
                found.add(other)
            else:
                found.discard(other)
        return sorted(found)


def _changed_at(folder: Path) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116 (of each folder before every check)
    except OSError:
        return 0


class Unit(NamedTuple):
    """What a document is linted as."""

    project: EditorProject
    file: ProjectFile
    rules: tuple[RuleEntry, ...]


class Projects:
    """Finds the project of a document, made anew when what it was made from has changed."""

    def __init__(self, documents: Documents, rules: tuple[RuleEntry, ...], tell: Callable[[str, str], None]) -> None:
        self.documents = documents
        self.rules = rules
        self.folders: tuple[Path, ...] = ()
        """Of the workspace; set in the event loop, as `options` is."""
        self.options = Options()
        self._tell = tell
        self._memory = _Memory()
        self._projects: dict[Path, tuple[EditorProject, dict[Path, object]]] = {}

    def forget(self) -> None:
        """Look at settings, files, checkpoints and environments again."""
        self._projects = {}

    def forget_files(self) -> None:
        """Look at modules again."""
        for project, _ in self._projects.values():
            project.forget_files()

    @property
    def problems(self) -> dict[Path, SettingsError]:
        """What is wrong with settings files; callable from any thread."""
        return {path: error for path, error in dict(self._memory.problems).items() if path.exists()}

    def folder_of(self, path: Path | None) -> Path:
        """The workspace folder of a file; without one the folder around it, for an untitled text the first one."""
        if path is None:
            return self.folders[0] if self.folders else Path.cwd()
        around = [folder for folder in self.folders if path.is_relative_to(folder)]
        return max(around, key=lambda folder: len(folder.parts)) if around else path.parent

    def unit(self, document: Document) -> Unit | None:
        """What a document is linted as; None where it is excluded, or no linting is wanted."""
        path = document.path
        if not self.options.of(path or self.folder_of(None)).enable:
            return None
        if isinstance(document, TextDocument) and document.uri.startswith(_CELL_SCHEME):
            return None  # of a client that can't synchronise notebooks: a cell alone is no program
        if path is None:
            # A text in no file has the settings of the folder that it will most likely be saved in.
            folder = self.folder_of(None)
            project = self.project_of(folder / "untitled.py")
            file = project.file(folder / "untitled.py")._replace(shown_path=document.uri)
        else:
            project = self.project_of(path)
            if project.is_skipped(path):
                return None
            file = project.file(path)
        return Unit(project, file, enabled(self.rules, file.settings, file.path))

    def project_of(self, path: Path) -> EditorProject:
        """The project that knows a file."""
        folder = self.folder_of(path)
        kept = self._projects.get(folder)
        if kept is not None:
            project, stamps = kept
            stamp = self._stamp(path.parent)
            if stamps.setdefault(path.parent, stamp) == stamp:
                project.notice_files()
                return project
            # Clients need not tell of files that change, so settings are looked at: some microseconds for each folder.
        made = self._made(folder)
        made.settings_in(path.parent)
        self._projects = {**self._projects, folder: (made, {path.parent: self._stamp(path.parent)})}
        return made

    def _made(self, folder: Path) -> EditorProject:
        interpreter = self.options.of(folder).interpreter
        if interpreter:
            # From the folder that the setting is for; a bare name is looked up on PATH.
            python = Path(interpreter).expanduser()
            if len(python.parts) > 1:
                python = folder / python
            try:
                return EditorProject(folder, self.documents, self.rules, self._memory, python)
            except EnvironmentNotFoundError as error:
                # Not by the name that the command line has for it.
                self._tell(f"interpreter of {shown(folder)}", f"`interpreter`: {str(error).removeprefix('--python: ')}")
        return EditorProject(folder, self.documents, self.rules, self._memory, None)

    def _stamp(self, folder: Path) -> object:
        """Another value as soon as a settings file of the folder, or of one above, is another."""
        used = self._memory.good.get(folder)
        names = [os.path.join(each, name) for each in (folder, *folder.parents) for name in _SETTINGS_FILES]  # noqa: PTH118
        found: list[tuple[str, int, int]] = []
        for path in (*names, *map(str, used.files if used is not None else ())):
            try:
                status = os.stat(path)  # noqa: PTH116 (before every lint)
            except OSError:
                continue
            found.append((path, status.st_mtime_ns, status.st_size))
        return tuple(found)
