"""A user's project: its files, the settings of each, and what the analysis of one may ask about the others."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from llm_lsp import settings as settings_files
from llm_lsp.files import PathProblem, Walk, absolute, shown
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.settings import OWN_NAMES, Settings

if TYPE_CHECKING:
    from llm_lsp.environment import Environment
    from llm_lsp.importers import Importers
    from llm_lsp.knowledge.checkpoints import Checkpoint
    from llm_lsp.outlines import Outline
    from llm_lsp.packages import Packages
    from llm_lsp.source import Source
    from llm_lsp.versions import Requirement
    from llm_lsp.world import World

__all__ = ["Project", "ProjectFile"]

_REPOSITORY = ".git"
_ROOT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", _REPOSITORY)
_KEPT_CHARACTERS = 1_000_000
"""Of the modules that were parsed last; a tree takes some fifty times the memory of its text."""
_TESTS = frozenset({"test", "tests"})
_MOST_SCRIPTS = 6
_MOST_IMPORTERS = 32
_FARTHEST = 4
"""Imports from a script to a module that it leads to."""
_MOST_FILES = 1_000
"""Of a project whose scripts are looked for."""


class ProjectFile(NamedTuple):
    """A file to lint."""

    path: Path
    """Absolute; may not exist, where the text comes from elsewhere."""
    shown_path: str
    settings: Settings


class Project:
    """What is known of the files below and around some paths.

    Paths choose the files that are reported, never what is known: the same file has the same world whatever was given.

    Args:
        paths: files and folders; the working directory where there is none.
        config: a settings file that holds for every file; its patterns count from the working directory.
        isolated: whether settings files are passed over. The versions that a project declares are not settings.
        python: an interpreter, virtual environment or site-packages folder that goes before the settings' one.
        overrides: attributes of `Settings` that replace those of every file, such as `force_exclude`.
        cached: whether answers that take long are kept on the disk, and read from it.

    Raises:
        SettingsError: `config` can't be used.
        EnvironmentNotFoundError: `python` leads to no environment.
    """

    _searches: ClassVar[int] = 8
    """So many modules are searched for before the import statements of all files are read."""

    def __init__(
        self,
        paths: Iterable[Path | str] = (),
        *,
        config: Path | None = None,
        isolated: bool = False,
        python: Path | None = None,
        overrides: Mapping[str, Any] | None = None,
        cached: bool = True,
    ) -> None:
        self._given = [absolute(Path(path)) for path in paths] or [Path.cwd()]
        self._isolated = isolated
        self._python = python
        self._overrides = dict(overrides or {})
        self._settings: dict[Path, Settings | None] = {}
        self._defaults: dict[Path, Settings] = {}
        self._marked_above: dict[tuple[Path, tuple[str, ...]], Path | None] = {}
        self._listings: dict[Path, frozenset[str]] = {}
        self._declared: dict[Path, Mapping[str, Requirement]] = {}
        self._environments: dict[Path, Environment | None] = {}
        self._named_environments: dict[Path, Environment] = {}
        self._installed: dict[Environment, Mapping[str, Requirement]] = {}
        self._packages: dict[Environment, Packages] = {}
        self._cached = cached
        self._checkpoints: dict[tuple[str, frozenset[str]], Checkpoint | None] = {}
        self._sources: OrderedDict[str, Source] = OrderedDict()
        """By the text of the path, which is compared faster: modules that others import are asked for again and again."""
        self._outlines: dict[Path, Outline] = {}
        self._leading: dict[Path, list[Path] | None] = {}
        self._scripts: dict[Path, list[Path] | None] = {}
        self._walked: dict[Path, list[Path]] = {}
        """By root: its files, or the first of too many."""
        self._importers: dict[Path, Importers] = {}
        """By root."""
        self._module_files: dict[tuple[str, Path], Path | None] = {}
        self._by_shown: dict[str, Path] = {}
        if python is not None:
            self._environment_at(python, "--python")
        self._config = self._load(absolute(config), root=Path.cwd()) if config else None
        self._walk = Walk(self.settings_in, self._outermost)

    @property
    def problems(self) -> list[PathProblem]:
        """The paths that `files` could not look at, so far."""
        return self._walk.problems

    def files(self) -> Iterator[ProjectFile]:
        """The files to lint, each once, in a stable order.

        Raises:
            SettingsError: settings that a file needs can't be used.
        """
        seen: set[str] = set()
        for given in self._given:
            for path in self._walk.files(given):
                key = os.path.normcase(path)
                if key not in seen:
                    seen.add(key)
                    yield ProjectFile(path, shown(path), self.settings_in(path.parent))

    def file(self, path: Path | str) -> ProjectFile:
        """A file by its path, whether it exists, is excluded, or is neither."""
        path = absolute(Path(path))
        return ProjectFile(path, shown(path), self.settings_in(path.parent))

    def at(self, shown_path: str) -> Path:
        """The absolute path of a file by its `shown_path`: the same object each time, which finds itself in tables fast."""
        found = self._by_shown.get(shown_path)
        if found is None:
            found = self._by_shown[shown_path] = absolute(Path(shown_path))
        return found

    def is_skipped(self, path: Path | str) -> bool:
        """Whether a path that the user names is excluded and `force-exclude` says that this counts."""
        return self._walk.is_skipped(absolute(Path(path)))

    def settings_in(self, folder: Path) -> Settings:
        """The settings that hold for the files of a folder.

        Raises:
            SettingsError: they can't be used.
        """
        found = self._config or self._found_settings(folder)
        if found is not None:
            return found
        root = self.root_of(folder)
        if root not in self._defaults:
            self._defaults[root] = self._overridden(Settings(root=root))
        return self._defaults[root]

    def root_of(self, folder: Path) -> Path:
        """The project that a folder belongs to.

        The nearest folder upward with a project file or a repository, else the nearest with settings.
        Without such a mark, the working directory where the folder lies below it, else the folder around its package.
        """
        # By their names alone: settings that are passed over still show where the project is.
        marked = self._marked(folder, _ROOT_MARKS) or self._marked(folder, OWN_NAMES)
        if marked is not None:
            return marked
        working = Path.cwd()
        return working if folder.is_relative_to(working) else self._around_package(folder)

    def source_at(self, path: Path) -> Source:
        """That of a file by its path.

        Raises:
            OSError: the file can't be read.
        """
        key = str(path)
        kept = self._sources.get(key)
        if kept is None:
            return self.source(self.file(path))
        self._sources.move_to_end(key)
        return kept

    def source(self, file: ProjectFile) -> Source:
        """The file's text and tree, kept for the modules that import it.

        Raises:
            OSError: the file can't be read.
        """
        from llm_lsp.source import Source

        key = str(file.path)
        kept = self._sources.get(key)
        if kept is None:
            data = file.path.read_bytes()
            kept = Source.from_bytes(file.shown_path, data, max_size=file.settings.max_source_size)
            self._sources[key] = kept
            while len(self._sources) > 1 and sum(len(each.text) for each in self._sources.values()) > _KEPT_CHARACTERS:
                self._sources.popitem(last=False)
        self._sources.move_to_end(key)
        return kept

    def written(self, file: Path) -> bytes:
        """The file as it is written; nothing where it can't be read."""
        try:
            return file.read_bytes()
        except OSError:
            return b""

    def environment_of(self, file: ProjectFile) -> Environment | None:
        """The environment whose installed versions count for a file: the one that the user names, else one found."""
        from llm_lsp import environment

        if self._python is not None:
            return self._environment_at(self._python, "--python")
        if file.settings.python is not None:
            return self._environment_at(file.settings.python, "python")
        root = self.root_of(file.path.parent)
        if root not in self._environments:
            folders = dict.fromkeys((file.settings.root, root, self._outermost(root)))
            self._environments[root] = environment.find(folders, os.environ)
        return self._environments[root]

    def _environment_at(self, path: Path, origin: str) -> Environment:
        from llm_lsp import environment

        if path not in self._named_environments:
            self._named_environments[path] = environment.at(path, origin, os.environ)
        return self._named_environments[path]

    def world_for(self, file: ProjectFile, installs: Iterable[str] = ()) -> World:
        """What the analysis of a file may ask.

        Args:
            file: of this project.
            installs: the requirements that the file itself installs, as a notebook does.
        """
        return _FileWorld(self, file, tuple(installs))

    def declared(self, distribution: str, folder: Path) -> Requirement | None:
        """What the nearest folder upward that says anything about a library says, by its normalised name."""
        from llm_lsp import declarations

        outermost = self._outermost(folder)
        for each in (folder, *folder.parents):
            if each not in self._declared:
                self._declared[each] = declarations.read(each, self._names_in(each))
            if distribution in self._declared[each]:
                return self._declared[each][distribution]
            if each == outermost:
                break
        return None

    def installed(self, distribution: str, file: ProjectFile) -> Requirement | None:
        """The version of a library in the file's environment, by its normalised name."""
        found = self.environment_of(file)
        if found is None:
            return None
        if found not in self._installed:
            self._installed[found] = found.installed()
        return self._installed[found].get(distribution)

    def packages_of(self, file: ProjectFile) -> Packages | None:
        """The packages of the file's environment."""
        found = self.environment_of(file)
        if found is None:
            return None
        if found not in self._packages:
            from llm_lsp.packages import Packages

            self._packages[found] = Packages(found, cached=self._cached)
        return self._packages[found]

    def checkpoint(self, name: str, bases: Iterable[Path]) -> Checkpoint | None:
        """The checkpoint of a name: a folder below one of `bases`, else one of the hub's cache, else one we know of."""
        from llm_lsp.knowledge import checkpoints

        # Windows would ask another machine for a path that starts with two slashes.
        if not name.strip() or "\0" in name or name.startswith(("//", "\\\\")):
            return None
        places = [os.path.join(base, os.path.expanduser(name)) for base in bases]  # noqa: PTH111, PTH118 (any text)
        folders = frozenset(os.path.realpath(place) for place in places if os.path.isdir(place))  # noqa: PTH112
        key = (name, folders)
        if key not in self._checkpoints:
            if len(folders) > 1:
                self._checkpoints[key] = None  # which one is meant depends on where the program is started
            elif folders:
                self._checkpoints[key] = checkpoints.from_folder(
                    next(iter(folders)), name=name, place=name.rstrip("/\\")
                )
            else:
                self._checkpoints[key] = checkpoints.resolve(name, cache_root=checkpoints.default_cache_root())
        return self._checkpoints[key]

    def module_file(self, name: str, importer: Path) -> Path | None:
        """The file of a module of the project, as Python would find it; None where it is not in the project.

        Args:
            name: dotted as in `import a.b`; a relative one starts with its dots.
            importer: the absolute path of the file that imports it.
        """
        key = (name, importer.parent)
        if key not in self._module_files:
            self._module_files[key] = self._find_module(name, importer)
        return self._module_files[key]

    def importers_of(self, path: Path) -> list[Path]:
        """The other files of the project whose text has an import with the module's name, by path."""
        if path.suffix != ".py":
            return []
        root = self.root_of(path.parent)
        if root not in self._importers:
            from llm_lsp.importers import Importers

            files = Walk(self.settings_in, self._outermost).files(root) if self._is_large(root) else self._walked[root]
            self._importers[root] = Importers(files, self.written, self.imported_words, self._searches)
        return sorted(file for file in self._importers[root].of(_module_name(path)) if file != path)

    def _is_large(self, root: Path) -> bool:
        """Whether a project has more files than are searched for those that lead to a module."""
        if root not in self._walked:
            self._walked[root] = list(islice(Walk(self.settings_in, self._outermost).files(root), _MOST_FILES + 1))
        return len(self._walked[root]) > _MOST_FILES

    def scripts_for(self, path: Path) -> list[Path] | None:
        """The files that are started, and whose imports lead to a module, the nearest first; no tests.

        Found by text, so that some may not lead there after all. None if there are more than are worth running, or too
        many files to look through: that would take a hook longer than all the rest.
        """
        # Each run that is kept for other files asks again, to see whether the answer is still the same.
        if path not in self._scripts:
            self._scripts[path] = self._find_scripts(path)
        return self._scripts[path]

    def _find_scripts(self, path: Path) -> list[Path] | None:
        if self._is_large(self.root_of(path.parent)):
            return None
        found: list[Path] = []
        seen, modules = {path}, [path]
        for _ in range(_FARTHEST):
            importers: list[Path] = []
            for module in modules:
                others = self._leading_to(module)
                if others is None or len(seen) + len(others) > _MOST_IMPORTERS:
                    return None
                importers += [other for other in others if other not in seen]
                seen.update(others)
            found += [importer for importer in importers if self._is_script(importer)]
            if len(found) > _MOST_SCRIPTS:
                return None
            modules = importers
        return found

    def _leading_to(self, module: Path) -> list[Path] | None:
        """The files that import a module, or something that it binds; no tests. None if there are too many."""
        if module not in self._leading:
            name, others = _module_name(module), self.importers_of(module)
            if len(others) > _MOST_IMPORTERS:
                self._leading[module] = None
            else:
                names = self.outline(module).defined
                self._leading[module] = [
                    other for other in others if self.outline(other).leads_to(name, names) and not self._is_test(other)
                ]
        return self._leading[module]

    def _is_script(self, path: Path) -> bool:
        """Whether a file is started by itself: it says so, or it does more than define things and nobody imports it."""
        outline = self.outline(path)
        return outline.is_guarded or (outline.runs and self._leading_to(path) == [])

    def _is_test(self, path: Path) -> bool:
        folders = path.relative_to(self.root_of(path.parent)).parts[:-1]
        return path.name.startswith("test_") or path.stem == "conftest" or not _TESTS.isdisjoint(folders)

    def outline(self, file: Path) -> Outline:
        """What the text of a file tells of its imports and names."""
        from llm_lsp.outlines import Outline

        if file not in self._outlines:
            text = self.written(file).decode("utf-8", "replace")
            self._outlines[file] = Outline(text, is_notebook=file.suffix == ".ipynb")
        return self._outlines[file]

    def imported_words(self, file: Path) -> frozenset[str]:
        """The words of a file's import statements; none where it can't be read, or is too large to be analysed."""
        from llm_lsp.outlines import imported_words
        from llm_lsp.source import OUTPUT_ALLOWANCE

        allowance = OUTPUT_ALLOWANCE if file.suffix == ".ipynb" else 1
        try:
            if file.stat().st_size > allowance * self.settings_in(file.parent).max_source_size:
                return frozenset()
            return imported_words(file.read_bytes().decode("utf-8", "replace"))
        except OSError:
            return frozenset()

    def _find_module(self, name: str, importer: Path) -> Path | None:
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name[dots:].split(".") if part]
        root = self.root_of(importer.parent)
        if not all(part.isidentifier() for part in parts) or not (dots or parts):
            return None
        if dots:
            bases = [importer.parents[dots - 1]] if dots <= len(importer.parents) else []
        else:
            bases = [self._around_package(importer.parent), root, root / "src", importer.parent]
        for base in dict.fromkeys(bases):
            found = self._in_folder(base, parts)
            if found is not None and Path(os.path.realpath(found)).is_relative_to(os.path.realpath(root)):
                return found
        return None

    def _in_folder(self, base: Path, parts: list[str]) -> Path | None:
        folder = base
        for part in parts[:-1]:
            if part not in self._names_in(folder):
                return None
            folder /= part
        # Names are compared with the listing, since macOS and Windows would open `Model.py` for `model`.
        if parts and parts[-1] in self._names_in(folder):
            package = folder / parts[-1]
            if "__init__.py" in self._names_in(package):
                return package / "__init__.py"
        last = f"{parts[-1]}.py" if parts else "__init__.py"
        found = folder / last
        return found if last in self._names_in(folder) and os.path.isfile(found) else None  # noqa: PTH113 (never raises)

    def _around_package(self, folder: Path) -> Path:
        while "__init__.py" in self._names_in(folder) and folder != folder.parent:
            folder = folder.parent
        return folder

    def _outermost(self, folder: Path) -> Path:
        """The repository that a folder lies in, else its project."""
        return self._marked(folder, (_REPOSITORY,)) or self.root_of(folder)

    def _marked(self, folder: Path, marks: tuple[str, ...]) -> Path | None:
        """The nearest folder upward that holds one of the marks."""
        key = (folder, marks)
        if key not in self._marked_above:
            # By question, not by listing: a folder above the project may hold a million files.
            if any(os.path.lexists(os.path.join(folder, mark)) for mark in marks):  # noqa: PTH118 (on every folder)
                self._marked_above[key] = folder
            else:
                self._marked_above[key] = None if folder == folder.parent else self._marked(folder.parent, marks)
        return self._marked_above[key]

    def _names_in(self, folder: Path) -> frozenset[str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = frozenset(os.listdir(folder))  # noqa: PTH208 (names only: one system call)
            except OSError:
                self._listings[folder] = frozenset()
        return self._listings[folder]

    def _found_settings(self, folder: Path) -> Settings | None:
        if self._isolated:
            return None
        if folder not in self._settings:
            path = settings_files.find_in(folder)
            if path is not None:
                self._settings[folder] = self._load(path)
            else:
                self._settings[folder] = None if folder == folder.parent else self._found_settings(folder.parent)
        return self._settings[folder]

    def _load(self, path: Path, root: Path | None = None) -> Settings:
        settings = settings_files.load(path, root=root)
        if settings.python is not None and self._python is None:
            from llm_lsp.environment import EnvironmentNotFoundError

            # Now, not when a rule first asks for a version: nothing is linted by guess.
            try:
                self._environment_at(settings.python, "python")
            except EnvironmentNotFoundError as error:
                raise settings_files.error_at(settings, "python", str(error)) from error
        return self._overridden(settings)

    def _overridden(self, settings: Settings) -> Settings:
        return settings._replace(**self._overrides) if self._overrides else settings


class _FileWorld:
    """The world of one file, answered by its project."""

    def __init__(self, project: Project, file: ProjectFile, installs: tuple[str, ...]) -> None:
        self._project = project
        self._file = file
        self._installs = installs
        self._checkpoints: dict[str, Checkpoint | None] = {}

    def version(self, distribution: str) -> Requirement | None:
        from llm_lsp import declarations
        from llm_lsp.versions import Requirement, normalised

        name = normalised(distribution)
        for written, specifier in self._file.settings.target_versions.items():
            if normalised(written) == name:
                return Requirement((specifier,), "target-versions")
        return (
            self._project.declared(name, self._file.path.parent)
            or self._project.installed(name, self._file)
            or declarations.from_lines(self._installs, "`pip install` in the notebook").get(name)
        )

    def checkpoint(self, name: str) -> Checkpoint | None:
        # A program loads one checkpoint in many places, and the project would look for a folder of that name each time.
        if name not in self._checkpoints:
            bases = (self._file.path.parent, self._project.root_of(self._file.path.parent), Path.cwd())
            self._checkpoints[name] = self._project.checkpoint(name, bases)
        return self._checkpoints[name]

    def importers(self, path: str, names: Iterable[str]) -> list[Source]:
        wanted = [name.encode() for name in names]
        others = self._project.importers_of(self._project.at(path))
        # Before they are parsed, which is what costs.
        naming = [other for other in others if any(name in self._project.written(other) for name in wanted)]
        return [source for other in naming if (source := self._source(other)) is not None]

    def scripts(self, path: str) -> list[Source] | None:
        paths = self._project.scripts_for(self._project.at(path))
        if paths is None:
            return None
        return [source for script in paths if (source := self._source(script)) is not None]

    def module(self, name: str, importer: str) -> Source | None:
        path = self._project.module_file(name, self._project.at(importer))
        return None if path is None else self._source(path)

    def installed(self, name: str, importer: str) -> Source | None:
        packages = self._project.packages_of(self._file)
        path = None if packages is None else packages.file_of(name, self._project.at(importer))
        return None if path is None else self._source(path, is_installed=True)

    def definition(self, module: str, name: str) -> tuple[Source, str] | None:
        packages = self._project.packages_of(self._file)
        found = None if packages is None else packages.definition(module, name)
        source = None if found is None else self._source(found[0], is_installed=True)
        return None if source is None or found is None else (source, found[1])

    def _source(self, path: Path, *, is_installed: bool = False) -> Source | None:
        """A file of the project, or of an installed package; None if it can't be read or was given up."""
        try:
            # What lies beside a package are no settings of the user's.
            if is_installed:
                source = self._project.source(ProjectFile(path, shown(path), self._file.settings))
            else:
                source = self._project.source_at(path)
        except OSError:
            return None
        return None if any(problem.code == "LLM002" for problem in source.problems) else source


def _module_name(path: Path) -> str:
    """The last part of the name by which a file is imported."""
    return path.parent.name if path.stem == "__init__" else path.stem
