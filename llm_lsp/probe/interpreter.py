"""Which interpreter runs a program of the user's."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path

__all__ = ["InterpreterNotFoundError", "find_interpreter", "interpreter_at"]

_PLACES = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
_ENVIRONMENTS = (".venv", "venv")


class InterpreterNotFoundError(Exception):
    """There is no interpreter where one should be; the message names the way out."""


def interpreter_at(path: Path, environ: Mapping[str, str]) -> Path:
    """The interpreter that a user names: itself, by its virtual environment, or by that one's site-packages folder.

    A bare name is looked up on PATH.

    Raises:
        InterpreterNotFoundError: nothing of that kind is there.
    """
    if len(path.parts) == 1 and not path.exists() and (found := shutil.which(path.name, path=environ.get("PATH"))):
        return Path(found)
    if path.is_file():
        return path.absolute()
    for folder in (path, *path.parents[:3]):
        for place in _PLACES:
            if (folder / place).is_file():
                # Not resolved: a virtual environment's interpreter is a link, and knows it by its own place alone.
                return (folder / place).absolute()
    raise InterpreterNotFoundError(
        f"`{path}` is no Python interpreter: name one, or a virtual environment, with `--python`, or with the setting "
        "`python` (in an editor `interpreter`)"
    )


def find_interpreter(folders: Iterable[Path], environ: Mapping[str, str]) -> Path:
    """The interpreter of the environment that is active, else of the first `.venv` or `venv` in the folders.

    Else the one that runs llm-lint, if torch is installed for it, else the first on PATH.

    Raises:
        InterpreterNotFoundError: there is none at all.
    """
    active = [Path(environ[name]) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environ.get(name)]
    for folder in (*active, *(folder / name for folder in folders for name in _ENVIRONMENTS)):
        for place in _PLACES:
            if (folder / place).is_file():
                return (folder / place).absolute()
    if find_spec("torch") is not None:
        return Path(sys.executable)
    for name in ("python3", "python"):
        if found := shutil.which(name, path=environ.get("PATH", os.defpath)):
            return Path(found)
    return interpreter_at(Path("python3"), environ)
