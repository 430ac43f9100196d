"""The files below the paths that a user gives, without those that settings and .gitignore files exclude."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from llm_lsp.globs import Globs
from llm_lsp.named_tuples import NamedTuple
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
    # As text, since this is asked for every file, and Path.relative_to takes ten times as long.
    text, below = str(path), os.path.join(os.getcwd(), "")  # noqa: PTH109, PTH118
    if os.path.normcase(text).startswith(os.path.normcase(below)):
        text = text[len(below) :]
    text = text.replace(os.sep, "/")
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
        # Not by methods of Path: they raise for a name that is too long, or in a folder that is closed to us.
        if os.path.isdir(given):  # noqa: PTH112
            if not self.is_skipped(given):
                yield from self._below(given, os.path.realpath(given), given)
        elif os.path.isfile(given):  # noqa: PTH113
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
        is_folder = os.path.isdir(given)  # noqa: PTH112
        return self._judge(given.parent).excludes(given.name, is_folder=is_folder) or any(
            self._judge(folder.parent).excludes(folder.name, is_folder=True) for folder in on_the_way
        )

    def _below(self, folder: Path, real_folder: str, given: Path) -> Iterator[Path]:
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            reason = error.strerror or str(error)
            self.problems.append(PathProblem(shown(folder), f"`{shown(folder)}` can't be read: {reason}"))
            return
        judge = self._judge(folder, given)
        for entry in entries:
            if _is_folder(entry):
                # Windows' junctions look like folders; like every link, they really are somewhere else.
                real = os.path.join(real_folder, entry.name)  # noqa: PTH118 (text, to compare)
                if not judge.excludes(entry.name, is_folder=True) and os.path.realpath(entry.path) == real:
                    yield from self._below(folder / entry.name, real, given)
            elif entry.name.endswith(SUFFIXES) and _is_file(entry) and not judge.excludes(entry.name, is_folder=False):
                yield folder / entry.name

    def _judge(self, folder: Path, given: Path | None = None) -> _Judge:
        """What the entries of a folder are judged by, `given` being a folder above them that the user asked for."""
        settings = self._settings_in(folder)
        base = settings.root if folder.is_relative_to(settings.root) else given
        exclude = None if base is None else _Rules.of(self._exclude(settings), base, folder, given)
        gitignores: list[_Rules] = []
        outermost = self._outermost(folder)
        for each in (folder, *folder.parents) if settings.respect_gitignore else ():
            if globs := self._gitignore(each):
                gitignores.append(_Rules.of(globs, each, folder, given))
            if each == outermost:
                break
        return _Judge(exclude, gitignores)

    def _exclude(self, settings: Settings) -> Globs:
        # By identity: comparing two settings costs more than the patterns; the settings are kept so that it stays.
        if id(settings) not in self._excludes:
            self._excludes[id(settings)] = (settings, Globs([*settings.exclude, *settings.extend_exclude]))
        return self._excludes[id(settings)][1]

    def _gitignore(self, folder: Path) -> Globs:
        if folder not in self._gitignores:
            path, text = folder / ".gitignore", ""
            with suppress(OSError):
                if path.is_file():
                    text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
            self._gitignores[folder] = Globs(text.splitlines())
        return self._gitignores[folder]


class _Rules(NamedTuple):
    """Patterns, and where the entries of one folder lie for them."""

    globs: Globs
    prefix: str
    above: str

    @classmethod
    def of(cls, globs: Globs, base: Path, folder: Path, given: Path | None) -> _Rules:
        above = _prefix(given, base) if given is not None and given.is_relative_to(base) else ""
        return cls(globs, _prefix(folder, base), above)

    def verdict(self, name: str) -> bool | None:
        return self.globs.verdict(self.prefix + name, above=self.above)


class _Judge(NamedTuple):
    exclude: _Rules | None
    gitignores: list[_Rules]
    """The innermost first: the first that says anything counts."""

    def excludes(self, name: str, *, is_folder: bool) -> bool:
        name = f"{name}/" if is_folder else name
        if self.exclude is not None and self.exclude.verdict(name):
            return True
        for rules in self.gitignores:
            verdict = rules.verdict(name)
            if verdict is not None:
                return verdict
        return False


def _prefix(folder: Path, base: Path) -> str:
    inside = folder.relative_to(base).as_posix()
    return "" if inside == "." else f"{inside}/"


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
