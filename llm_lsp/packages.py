"""Modules of installed packages, found by path in the user's environment; nothing of them is executed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llm_lsp.definitions import Definitions
    from llm_lsp.environment import Environment

__all__ = ["Packages"]

_FRAMEWORKS = ("torch", "transformers", "lightning", "timm", "accelerate", "peft", "trl", "diffusers")
"""Words in the names of distributions of which a package needs one if it defines a class that rules ask about."""


class Packages:
    """The packages of one environment.

    Args:
        environment: of the user.
        cached: whether answers that take long are kept on the disk.
    """

    def __init__(self, environment: Environment, *, cached: bool) -> None:
        self._folders = environment.search_path()
        self._cached = cached
        self._listings: dict[str, frozenset[str]] = {}
        self._matters: dict[str, bool] = {}
        self._definitions: Definitions | None = None

    def holds(self, path: Path) -> bool:
        """Whether the file belongs to an installed package."""
        return any(path.is_relative_to(folder) for folder in self._folders)

    def file_of(self, name: str, importer: Path) -> Path | None:
        """The file of a module, as Python would find it in this environment.

        Args:
            name: dotted; a relative one starts with its dots, and counts from a file of an installed package.
            importer: the file that imports it.
        """
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name[dots:].split(".") if part]
        if not all(part.isidentifier() for part in parts) or not (dots or parts):
            return None
        if parts and not dots and not self._may_matter(parts[0]):
            return None
        if dots:
            is_known = self.holds(importer) and dots <= len(importer.parents)
            folders = [str(importer.parents[dots - 1])] if is_known else []
        else:
            folders = [str(folder) for folder in self._folders]
        for folder in folders:
            found = self._in_folder(folder, parts)
            if found is not None:
                return Path(found)
        return None

    def definition(self, module: str, name: str) -> tuple[Path, str] | None:
        """The file that defines what a module gives, and the name there, where only jedi can tell."""
        from llm_lsp.definitions import Definitions, default_cache

        file = self.file_of(module, Path())
        if file is None or not name.isidentifier():
            return None
        if self._definitions is None:
            self._definitions = Definitions(self._folders, default_cache() if self._cached else None)
        found = self._definitions.find(file, module, name)
        # jedi has stubs of its own, which are nobody's package.
        return found if found is not None and self.holds(found[0]) and found[0].suffix == ".py" else None

    def _may_matter(self, package: str) -> bool:
        """False where the package's own metadata says that it needs none of the frameworks: most packages, unread."""
        known = self._matters.get(package)
        if known is None:
            from llm_lsp.versions import normalised

            wanted = normalised(package)
            needs = [
                _requirements(os.path.join(folder, name, "METADATA"))  # noqa: PTH118
                for folder in map(str, self._folders)
                for name in self._names_in(folder)
                if name.endswith(".dist-info") and normalised(name.partition("-")[0]) == wanted
            ]
            known = not needs or any(word in line for lines in needs for line in lines for word in _FRAMEWORKS)
            self._matters[package] = known
        return known

    def _in_folder(self, folder: str, parts: list[str]) -> str | None:
        for part in parts[:-1]:
            if part not in self._names_in(folder):
                return None
            folder = os.path.join(folder, part)  # noqa: PTH118
        # As in a project, by listing: macOS and Windows would open `Model.py` for `model`.
        last = parts[-1] if parts else ""
        package = os.path.join(folder, last) if last else folder  # noqa: PTH118
        if (not last or last in self._names_in(folder)) and "__init__.py" in self._names_in(package):
            return os.path.join(package, "__init__.py")  # noqa: PTH118
        path = os.path.join(folder, f"{last}.py")  # noqa: PTH118
        return path if last and f"{last}.py" in self._names_in(folder) and os.path.isfile(path) else None  # noqa: PTH113

    def _names_in(self, folder: str) -> frozenset[str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = frozenset(os.listdir(folder))  # noqa: PTH208
            except OSError:
                self._listings[folder] = frozenset()
        return self._listings[folder]


def _requirements(path: str) -> list[str]:
    """What a distribution says that it needs; one that can't be read may need anything."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
            return [line.lower() for line in stream if line.startswith("Requires-Dist:")]
    except OSError:
        return [_FRAMEWORKS[0]]
