"""URIs of the protocol and paths of the file system."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["key_of", "path_of", "uri_of"]

_DRIVE = re.compile(r"/[A-Za-z]:")


def path_of(uri: str) -> Path | None:
    """The file that a `file:` URI names; None for every other scheme, and for what can name no file.

    Not `urllib.parse.urlparse`: it would take a semicolon in a name for the start of parameters.
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file":
        return None
    # Editors differ in what they quote; a name with an unquoted `#` or `?` can't be told from a fragment.
    path = unquote(parts.path, errors="surrogateescape")
    if parts.netloc and parts.netloc != "localhost":
        path = f"//{parts.netloc}{path}"
    elif _DRIVE.match(path):
        path = path[1].upper() + path[2:]
    if "\0" in path:
        return None
    return Path(os.path.abspath(path))  # noqa: PTH100 (`resolve` would follow symbolic links)


def uri_of(path: Path) -> str:
    """The URI of an absolute path."""
    return path.as_uri()


def key_of(uri: str) -> str:
    """One spelling for all URIs of a document: clients differ in what they quote and in the case of drive letters."""
    text = unquote(uri, errors="surrogateescape")
    scheme, colon, rest = text.partition("://")
    if scheme.lower() == "file" and _DRIVE.match(rest):
        rest = f"/{rest[1].lower()}{rest[2:]}"
    return f"{scheme}{colon}{rest}"
