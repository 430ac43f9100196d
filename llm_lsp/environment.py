"""The user's Python environment, looked at and never run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from llm_lsp.named_tuples import NamedTuple
from llm_lsp.versions import Requirement, normalised

__all__ = ["Environment", "EnvironmentNotFoundError", "at", "find"]


class EnvironmentNotFoundError(Exception):
    """The interpreter that the user named leads to no site-packages folder."""


class Environment(NamedTuple):
    """Where the user's packages are installed."""

    origin: str
    """How it was found, for a message: `--python`, `VIRTUAL_ENV`, `.venv`."""
    site_packages: tuple[Path, ...]

    def search_path(self) -> tuple[Path, ...]:
        """Where modules are looked for: these folders, and those that their `.pth` files name, as editable installs do."""
        found = dict.fromkeys(self.site_packages)
        for folder in self.site_packages:
            for name in sorted(name for name in _names(folder) if name.endswith(".pth")):
                # Lines that begin with `import` are code, and not run.
                lines = (line.strip() for line in _text(folder / name).splitlines())
                named = (folder / line for line in lines if line and not line.startswith(("#", "import ", "import\t")))
                found.update((path, None) for path in named if os.path.isdir(path))  # noqa: PTH112
        return tuple(found)

    def installed(self) -> Mapping[str, Requirement]:
        """The exact versions by normalised distribution name, from the names of the `*.dist-info` folders."""
        versions: dict[str, list[str]] = {}
        for name in sorted(name for folder in self.site_packages for name in _names(folder)):
            distribution, dash, version = name.removesuffix(".dist-info").partition("-")
            # pip leaves `~orch-2.4.0.dist-info` behind when it can't finish an uninstallation.
            if dash and name.endswith(".dist-info") and not name.startswith("~"):
                alternatives = versions.setdefault(normalised(distribution), [])
                if f"=={version}" not in alternatives:
                    alternatives.append(f"=={version}")
        return {name: Requirement(tuple(found), f"the environment ({self.origin})") for name, found in versions.items()}


def find(folders: Iterable[Path], environ: Mapping[str, str]) -> Environment | None:
    """The environment that is active, or the first `.venv` or `venv` in the folders."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if environ.get(variable):
            found = _site_packages(Path(environ[variable]), None)
            if found:
                return Environment(variable, found)
    for folder in folders:
        for name in (".venv", "venv"):
            found = _site_packages(folder / name, None)
            if found:
                return Environment(name, found)
    return None


def at(path: Path, origin: str, environ: Mapping[str, str]) -> Environment:
    """The environment of an interpreter, a virtual environment or a site-packages folder.

    A bare name such as `python3.12` is looked up on PATH.

    Raises:
        EnvironmentNotFoundError: nothing of that kind is there.
    """
    # Not by methods of Path, here and below: they raise in a folder that is closed to us.
    if len(path.parts) == 1 and not os.path.exists(path):  # noqa: PTH110
        on_path = (folder / path for folder in _path_folders(environ))
        path = next((each for each in on_path if os.path.isfile(each)), path)  # noqa: PTH113
    if not os.path.exists(path):  # noqa: PTH110
        raise EnvironmentNotFoundError(f"{origin}: `{path}` does not exist")
    if os.path.isdir(path):  # noqa: PTH112
        is_site = path.name in ("site-packages", "dist-packages") or any(
            name.endswith(".dist-info") for name in _names(path)
        )
        folders = (path,) if is_site else _site_packages(path, None)
    else:
        folders = tuple(_of_interpreter(path))
    if not folders:
        raise EnvironmentNotFoundError(
            f"{origin}: `{path}` has no site-packages folder: name a Python interpreter, a virtual environment or a "
            "site-packages folder"
        )
    return Environment(origin, folders)


def _path_folders(environ: Mapping[str, str]) -> Iterator[Path]:
    return (Path(folder) for folder in environ.get("PATH", "").split(os.pathsep) if folder)


def _of_interpreter(interpreter: Path) -> Iterable[Path]:
    """A virtual environment's `python` is a link: only its own place tells the environment, not its target."""
    for path in (interpreter, Path(os.path.realpath(interpreter))):
        version = _version_in(path.name)
        for prefix in (path.parent.parent, path.parent):
            folders = _site_packages(prefix, version)
            if folders:
                return folders
    return ()


def _site_packages(prefix: Path, version: str | None) -> tuple[Path, ...]:
    """The folders below `prefix` that packages are installed in, those of the base environment where it shows through."""
    config = _pyvenv_config(prefix)
    version = _minor(config.get("version") or config.get("version_info") or "") or version
    folders = [*_own_site_packages(prefix, version)]
    if folders and config.get("include-system-site-packages", "").lower() == "true" and config.get("home"):
        base = Path(config["home"])
        folders += (folder for prefix in (base.parent, base) for folder in _own_site_packages(prefix, version))
    return tuple(dict.fromkeys(folders))


def _own_site_packages(prefix: Path, version: str | None) -> Iterator[Path]:
    windows = prefix / "Lib" / "site-packages"
    if os.path.isdir(windows):  # noqa: PTH112
        yield windows
        return
    libraries = [prefix / "lib", prefix / "lib64"]
    if prefix == Path("/usr"):
        # Debian keeps its own packages, and pip's, apart.
        libraries = [Path("/usr/local/lib"), Path("/usr/lib")]
    for library in libraries:
        pythons = [name for name in sorted(_names(library)) if name.startswith(("python3", "pypy3"))]
        matching = [name for name in pythons if version and name.endswith(version)] or pythons
        for name in [*matching, *({"python3"} & {*pythons} - {*matching})]:
            for packages in ("site-packages", "dist-packages"):
                folder = library / name / packages
                if os.path.isdir(folder):  # noqa: PTH112
                    yield folder


def _pyvenv_config(prefix: Path) -> Mapping[str, str]:
    pairs = (line.partition("=") for line in _text(prefix / "pyvenv.cfg").splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _version_in(interpreter: str) -> str | None:
    return _minor(interpreter.lower().removesuffix(".exe").removeprefix("pypy").removeprefix("python"))


def _minor(version: str) -> str | None:
    """`3.12` of `3.12.1.final.0`."""
    parts = version.split(".")
    return ".".join(parts[:2]) if len(parts) > 1 and parts[0].isdecimal() and parts[1].isdecimal() else None


def _text(path: Path) -> str:
    with suppress(OSError, ValueError):
        if path.is_file():
            return path.read_text(encoding="utf-8", errors="replace")
    return ""


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (only the names are wanted: one system call)
    except OSError:
        return []
