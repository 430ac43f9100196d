"""Where installed packages define names that their imports don't show: asked of jedi once, then kept on the disk.

jedi is an extra: where it is not installed, such names are not known. It runs in a process of its own (`goto.py`) with
limits on time and memory: on star imports and lazy exports it may go on for minutes. What it could not tell within its
limits is kept as well, so that nobody waits twice.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["Definitions", "default_cache"]

PROGRAM = Path(__file__).with_name("goto.py")
SECONDS = 5
"""Of CPU; on a machine that is busy with other things, four times as long by the clock."""
_MEGABYTES = 512
_FORMAT = 1
"""Part of each entry's key: another number for entries of another shape."""


def default_cache() -> Path:
    """The folder in which this system keeps what programs can make again."""
    named = os.environ.get("LLM_LINT_CACHE_DIR")
    if named:
        return Path(named)
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "llm-lint" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "llm-lint"


class Definitions:
    """Answers for one search path.

    Args:
        search_path: the folders in which modules are looked for.
        cache: the folder in which answers are kept; None: they are not.
    """

    def __init__(self, search_path: Iterable[Path], cache: Path | None) -> None:
        self._search_path = [str(path) for path in search_path]
        self._cache = cache

    def find(self, file: Path, module: str, name: str) -> tuple[Path, str] | None:
        """The file that defines a class, and its name there; None where that can't be told.

        Args:
            file: of the module, so that the answer is asked for again when it has changed.
            module: the absolute name.
            name: of the class that the module gives.
        """
        if not _jedi_is_installed():
            return None
        if self._cache is None:
            return self._asked(module, name)
        entry = self._entry(file, module, name)
        try:
            kept = entry.read_text(encoding="utf-8").split("\n")
        except (OSError, ValueError):
            found = self._asked(module, name)
            self._keep(entry, "" if found is None else f"{found[0]}\n{found[1]}")
            return found
        return (Path(kept[0]), kept[1]) if len(kept) == 2 and os.path.isfile(kept[0]) else None  # noqa: PTH113

    def _entry(self, file: Path, module: str, name: str) -> Path:
        from hashlib import blake2b

        try:
            status = file.stat()
            stamp = f"{status.st_mtime_ns} {status.st_size}"
        except OSError:
            stamp = ""
        key = "\0".join((str(_FORMAT), *self._search_path, str(file), stamp, module, name))
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return (self._cache or Path()) / "definitions" / digest

    def _keep(self, entry: Path, text: str) -> None:
        """Whole or not at all: another process may read it at the same time."""
        part = entry.with_name(f"{entry.name}.{os.getpid()}")
        try:
            entry.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8", newline="")
            part.replace(entry)
        except (OSError, ValueError):
            return  # a disk that is full or closed to us costs time, and nothing else

    def _asked(self, module: str, name: str) -> tuple[Path, str] | None:
        import json
        import subprocess

        question = {
            "own_path": [path for path in sys.path if path],
            "search_path": self._search_path,
            "module": module,
            "name": name,
            "seconds": SECONDS,
            "megabytes": _MEGABYTES,
        }
        command = [sys.executable, "-I", str(PROGRAM)]
        try:
            done = subprocess.run(  # noqa: S603 - our own program, by path
                command,
                input=json.dumps(question),
                capture_output=True,
                encoding="utf-8",
                timeout=4 * SECONDS,
                check=False,
                cwd=PROGRAM.parent,
            )
            found = json.loads(done.stdout) if done.returncode == 0 else None
        except (OSError, ValueError, subprocess.TimeoutExpired):
            return None
        return None if found is None else (Path(found[0]), found[1])


def _jedi_is_installed() -> bool:
    """Looked for, not imported: it takes longer to load than a file takes to lint."""
    return any(os.path.isfile(os.path.join(path, "jedi", "__init__.py")) for path in sys.path if path)  # noqa: PTH113, PTH118
