"""A changed file on disk: whole, or as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["NotWritten", "write"]


class NotWritten(Exception):  # noqa: N818  the name says what is wrong
    """The file is left alone; the message names it and the reason."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: not written, {reason}; the file is left alone")
        self.path = path
        self.reason = reason


def write(path: str | os.PathLike[str], before: bytes, after: bytes) -> None:
    """Replace the content of an existing file in one step; raises NotWritten, also where it is no longer `before`.

    A new file beside it takes its place, with its permissions; a link stays a link, and its target is replaced.
    """
    import tempfile

    shown = Path(path)
    target = Path(os.path.realpath(path))
    try:
        status = target.stat()
        # Asked of the mode too: the administrator may write what was marked as not to be written.
        if not status.st_mode & stat.S_IWUSR or not os.access(target, os.W_OK):
            raise NotWritten(shown, "it is read-only")
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
    except OSError as error:
        raise NotWritten(shown, _reason(error)) from error
    new = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(stat.S_IMODE(status.st_mode))
        _keep_owner(new, status)
        _check_unchanged(target, before, shown)
        new.replace(target)
    except BaseException as error:
        new.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise NotWritten(shown, _reason(error)) from error
        raise


def _check_unchanged(target: Path, before: bytes, shown: Path) -> None:
    """An editor may have saved the file in the meantime."""
    if target.read_bytes() != before:
        raise NotWritten(shown, "it has changed since it was read")


def _keep_owner(path: Path, before: os.stat_result) -> None:
    """Give a file that another user owns back to that user, where we may."""
    chown = getattr(os, "chown", None)
    now = path.stat()
    if chown is None or (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return
    try:
        chown(path, before.st_uid, before.st_gid)
    except PermissionError:
        return


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
