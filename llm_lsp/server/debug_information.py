"""A report on what the server works with, for whoever wonders why the editor says what it says."""

from __future__ import annotations

import os
import platform
import sys
from typing import TYPE_CHECKING

from llm_lsp import __version__
from llm_lsp.files import shown

if TYPE_CHECKING:
    from llm_lsp.server.session import Session

__all__ = ["debug_information"]


def debug_information(session: Session) -> str:
    """Versions, the interpreter, the client, and per open document its settings files, environment and rules."""
    from importlib import metadata

    lines = [
        f"llm-lint {__version__}, pygls {metadata.version('pygls')}, lsprotocol {metadata.version('lsprotocol')}",
        f"Python {platform.python_version()} at {sys.executable}, on {platform.platform()}, process {os.getpid()}",
        f"{len(session.rules)} rules installed",
        _libcst(),
        f"workspace: {', '.join(map(str, session.folders)) or 'none'}",
        f"trusted: {session.options.trusted}, workspace diagnostics: {session.options.workspace_diagnostics}",
        "",
        "client:",
        *(f"  {name}: {value}" for name, value in session.capabilities.described().items()),
    ]
    for document in session.documents:
        unit = session.projects.unit(document)
        lines += ["", f"{document.uri} (version {document.version})"]
        if unit is None:
            lines.append("  not linted: excluded, switched off, or of another language")
            continue
        settings = unit.file.settings
        environment = unit.project.environment_of(unit.file)
        lines += [
            f"  settings: {', '.join(shown(path) for path in settings.files) or 'the defaults'}",
            f"  environment: {environment.origin if environment is not None else 'none'}",
            f"  rules: {', '.join(rule.code for rule in unit.rules)}",
        ]
    lines += [f"settings that can't be used: {error}" for error in session.projects.problems.values()]
    return "\n".join(lines)


def _libcst() -> str:
    """Fixes may rest on it, and where llm-lint was brought along by an editor it is not there by itself."""
    from importlib import metadata

    try:
        return f"libcst {metadata.version('libcst')}"
    except metadata.PackageNotFoundError:
        return f"libcst is not installed for {sys.executable}, so fixes that need it are not offered"
