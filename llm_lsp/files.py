"""The files below the paths that a user gives, without those that settings and .gitignore files exclude."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from llm_lsp.globs import Globs
from llm_lsp.settings import Settings

__all__ = ["SUFFIXES", "PathProblem", "Walk", "absolute", "shown"]

SUFFIXES = (".py", ".ipynb")


class PathProblem(NamedTuple):
    """A path that can't be looked at."""

    shown_path: str
    message: str


def absolute(path: Path) -> Path:
    """The path from the root, `..` folded; symbolic links stay, since a user knows a file by the path they gave."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def shown(path: Path) -> str:
    """The path for a person: from the working directory where it lies below, with `/`."""
    working = Path.cwd()
    text = (path.relative_to(working) if path.is_relative_to(working) else path).as_posix()
    # Linux file names are bytes; one that is not UTF-8 could not be printed.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class Walk:
    """Walks folders; remembers the .gitignore files that it has read.

    Args:
        settings_in: the settings that hold for the files of a folder.
        outermost: the folder above which no .gitignore counts, for a folder: that of the repository.
    """

    def __init__(self, settings_in: Callable[[Path], Settings], outermost: Callable[[Path], Path]) -> None:
        self.problems: list[PathProblem] = []
        self._settings_in = settings_in
        self._outermost = outermost
        self._gitignores: dict[Path, Globs] = {}
        self._excludes: dict[int, tuple[Settings, Globs]] = {}

    def files(self, given: Path) -> Iterator[Path]:
        """The Python files and notebooks below an absolute path, or the file itself, in the order of their names.

        Links to folders are not followed, so a loop of them is harmless. What can't be read goes to `problems`.
        """
        if given.is_dir():
            if not self.is_skipped(given):
                yield from self._below(given, Path(os.path.realpath(given)), given)
        elif given.is_file():
            if not self.is_skipped(given):
                yield given
        else:
            reason = "is neither a file nor a folder" if os.path.lexists(given) else "does not exist"
            self.problems.append(PathProblem(shown(given), f"`{shown(given)}` {reason}"))

    def is_skipped(self, given: Path) -> bool:
        """Whether a path that the user names is excluded and `force-exclude` says that this counts."""
        settings = self._settings_in(given.parent)
        if not settings.force_exclude:
            return False
        tops = (settings.root, self._outermost(given.parent))
        on_the_way = [path for path in given.parents if any(path.is_relative_to(top) and path != top for top in tops)]
        return self._is_excluded(given, is_folder=given.is_dir()) or any(
            self._is_excluded(folder, is_folder=True) for folder in on_the_way
        )

    def _below(self, folder: Path, real_folder: Path, given: Path) -> Iterator[Path]:
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            reason = error.strerror or str(error)
            self.problems.append(PathProblem(shown(folder), f"`{shown(folder)}` can't be read: {reason}"))
            return
        for entry in entries:
            path = folder / entry.name
            is_folder = _is_folder(entry)
            if not is_folder and not (entry.name.endswith(SUFFIXES) and _is_file(entry)):
                continue
            if self._is_excluded(path, is_folder=is_folder, given=given):
                continue
            if not is_folder:
                yield path
            # Windows' junctions look like folders; like every link, they really are somewhere else.
            elif os.path.realpath(path) == os.path.join(real_folder, entry.name):  # noqa: PTH118 (text, to compare)
                yield from self._below(path, real_folder / entry.name, given)

    def _is_excluded(self, path: Path, *, is_folder: bool, given: Path | None = None) -> bool:
        """Whether a path is excluded, `given` being a folder above it that the user asked for by name."""
        settings = self._settings_in(path.parent)
        base = settings.root if path.is_relative_to(settings.root) else given
        if base is not None and _verdict(self._exclude(settings), base, path, given, is_folder=is_folder):
            return True
        return settings.respect_gitignore and self._is_gitignored(path, given, is_folder=is_folder)

    def _is_gitignored(self, path: Path, given: Path | None, *, is_folder: bool) -> bool:
        outermost = self._outermost(path.parent)
        for folder in path.parents:
            verdict = _verdict(self._gitignore(folder), folder, path, given, is_folder=is_folder)
            if verdict is not None:
                return verdict
            if folder == outermost:
                break
        return False

    def _exclude(self, settings: Settings) -> Globs:
        # By identity: comparing two settings costs more than the patterns; the settings are kept so that it stays.
        if id(settings) not in self._excludes:
            self._excludes[id(settings)] = (settings, Globs([*settings.exclude, *settings.extend_exclude]))
        return self._excludes[id(settings)][1]

    def _gitignore(self, folder: Path) -> Globs:
        if folder not in self._gitignores:
            try:
                text = (folder / ".gitignore").read_text(encoding="utf-8-sig", errors="surrogateescape")
            except OSError:
                text = ""
            self._gitignores[folder] = Globs(text.splitlines())
        return self._gitignores[folder]


def _verdict(globs: Globs, base: Path, path: Path, given: Path | None, *, is_folder: bool) -> bool | None:
    if not globs:
        return None
    above = ""
    if given is not None and given != base and given.is_relative_to(base):
        above = given.relative_to(base).as_posix() + "/"
    return globs.verdict(path.relative_to(base).as_posix() + ("/" if is_folder else ""), above=above)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file()
    except OSError:
        return False  # a link that leads in a circle
