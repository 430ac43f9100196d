"""What the editor's settings say: `initializationOptions` and `workspace/didChangeConfiguration`.

Rules, severities and versions are not among them: those stand in the project's settings files, where the command line
and the team read them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

from llm_lsp.server.uris import path_of

__all__ = ["FolderOptions", "Options", "read_options"]

_SECTION = "llmLint"


@dataclass(frozen=True, slots=True)
class FolderOptions:
    """What may differ between the folders of a workspace."""

    enable: bool = True
    interpreter: str = ""
    """The interpreter, virtual environment or site-packages folder that goes before the one in the settings file."""
    check_shapes_lens: bool = True
    grad_mode_hints: bool = False
    precision_hints: bool = False
    shape_hints: bool = True
    """Of what the probe has seen; it runs only where it is asked to."""
    probe_on_save: bool = False


@dataclass(frozen=True, slots=True)
class Options:
    """What holds for the whole session."""

    default: FolderOptions = field(default_factory=FolderOptions)
    folders: Mapping[Path, FolderOptions] = field(default_factory=dict[Path, FolderOptions])
    workspace_diagnostics: bool = False
    trusted: bool = True
    """Where False, no program of the workspace is ever started."""
    log_level: str = ""

    def of(self, path: Path | None) -> FolderOptions:
        """Those of the innermost folder with options of its own."""
        inside = [folder for folder in self.folders if path is not None and path.is_relative_to(folder)]
        return self.folders[max(inside, key=lambda folder: len(folder.parts))] if inside else self.default


_FOLDER_KEYS = {
    "enable": "enable",
    "interpreter": "interpreter",
    "codeLens.checkShapes": "check_shapes_lens",
    "inlayHints.gradMode": "grad_mode_hints",
    "inlayHints.precision": "precision_hints",
    "inlayHints.shapes": "shape_hints",
    "probe.onSave": "probe_on_save",
}
_LEVELS = ("", "debug", "info", "warning", "error")


def read_options(sent: object, problems: list[str]) -> Options:
    """The options that a client sends; what it sends wrong is named in `problems` and left as it is by default.

    Either `{"globalSettings": {...}, "settings": [{"workspace": URI, ...}, ...]}`, or the settings themselves, also
    under the name `llmLint`. A name with a dot may be written nested.
    """
    given = _table(sent)
    if _SECTION in given:
        given = _table(given[_SECTION])
    overall = _flat(_table(given["globalSettings"])) if "globalSettings" in given else _flat(given)
    options = _overall(overall, problems)
    folders: dict[Path, FolderOptions] = {}
    of_folders: object = given.get("settings")
    for entry in cast("list[object]", of_folders) if isinstance(of_folders, list) else []:
        table = _flat(_table(entry))
        path = path_of(str(table.get("workspace") or table.get("cwd") or ""))
        if path is None:
            problems.append("an entry of `settings` names no `workspace`")
        else:
            folders[path] = _folder(options.default, table, problems)
    return replace(options, folders=folders)


def _overall(table: Mapping[str, object], problems: list[str]) -> Options:
    default = _folder(FolderOptions(), table, problems)
    mode = table.get("diagnosticMode", "openFiles")
    if mode not in ("openFiles", "workspace"):
        problems.append(f"`diagnosticMode` is `{mode}`, which is neither `openFiles` nor `workspace`")
    level = str(table.get("logLevel", "")).lower()
    if level not in _LEVELS:
        problems.append(f"`logLevel` is `{level}`, which is none of {', '.join(filter(None, _LEVELS))}")
        level = ""
    return Options(
        default=default,
        workspace_diagnostics=mode == "workspace",
        trusted=table.get("trusted", True) is not False,
        log_level=level,
    )


def _folder(before: FolderOptions, table: Mapping[str, object], problems: list[str]) -> FolderOptions:
    kinds = {item.name: bool if item.type == "bool" else str for item in fields(FolderOptions)}
    changed: dict[str, Any] = {}
    for key, attribute in _FOLDER_KEYS.items():
        value = table.get(key)
        if value is None:
            continue
        kind = kinds[attribute]
        if isinstance(value, kind):
            changed[attribute] = value
        else:
            problems.append(f"`{key}` must be {'true or false' if kind is bool else 'a text'}")
    return replace(before, **changed)


def _flat(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(cast("dict[str, object]", value), f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
