"""`llm-lint config`: the settings that hold, the rules that run, the environment and the library versions.

Each with its origin.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from llm_lsp import __version__, toml
from llm_lsp.cli.selection import Selection, project_of
from llm_lsp.cli.usage import UsageError
from llm_lsp.files import shown
from llm_lsp.project import Project, ProjectFile
from llm_lsp.registry import entries
from llm_lsp.render.paint import visible
from llm_lsp.settings import Settings, keys

__all__ = ["run", "show"]

_LIBRARIES = ("torch", "transformers", "tokenizers", "datasets", "accelerate", "peft", "trl", "lightning", "vllm")
_ALWAYS_NAMED = _LIBRARIES[:2]


def run(options: Namespace) -> int:
    """Print what holds for the file or folder that the options name."""
    if not Path(options.path).exists():
        raise UsageError(f"`{options.path}` does not exist")
    project = project_of(options, [options.path])
    show(project, Selection(options, entries()), options.path, options)
    return 0


def show(project: Project, selection: Selection, path: str, options: Namespace) -> None:
    """Print the settings and rules of a file or folder, its environment, and the versions of libraries."""
    inside = Path(path) / "any.py" if Path(path).is_dir() else Path(path)
    file = project.file(inside)
    settings = selection.settings_of(file)
    print(f"# llm-lint {__version__}: settings for {visible(shown(Path(path).absolute()))}")
    for key in keys():
        value = settings.shown()[key.name]
        if key.name == "select" and not value:
            print(
                "# no select: the rules that are on by default"
            )  # an empty one is no setting that anybody could write
        elif value is not None:
            print(f"{key.name} = {_toml(value)}  # {_origin(settings, key.name, key.attribute, options)}")
    print("\n# rules")
    print(", ".join(rule.code for rule in selection.rules_for(file)) or "none")
    print("\n# environment")
    print(_environment(project, file))
    print("\n# library versions")
    for line in _versions(project, file):
        print(line)


def _environment(project: Project, file: ProjectFile) -> str:
    found = project.environment_of(file)
    if found is None:
        return "none: name one with --python, or activate it"
    return f"{', '.join(shown(folder) for folder in found.site_packages)}  # {found.origin}"


def _versions(project: Project, file: ProjectFile) -> Iterator[str]:
    from llm_lsp.facts.named_versions import requirement_by_names

    source = None
    with suppress(OSError):
        source = project.source(file)
    world = project.world_for(file, source.installs if source is not None else ())
    for library in _LIBRARIES:
        found = world.version(library) or (requirement_by_names(source, library) if source is not None else None)
        if found is not None:
            yield f"{library} {found.specifier or 'any version'}  # {found.source}"
        elif library in _ALWAYS_NAMED:
            yield f"{library} not known  # neither declared nor installed; the newest known release counts"


def _origin(settings: Settings, name: str, attribute: str, options: Namespace) -> str:
    """Where a setting comes from: every place that has a part in it, the one that counts most first."""
    places: list[str] = []
    if getattr(options, attribute, None):
        places.append(f"--{name}")
    replaced = bool(options.select) and attribute in {"select", "extend_select", "ignore"}
    if not replaced and not (places and attribute not in {"extend_select", "ignore"}):
        places += (f"{shown(path)}:{row}" for path in settings.files if (row := _row(path, name)) is not None)
    return ", ".join(places) or ("--select" if replaced else "default")


def _row(path: Path, name: str) -> int | None:
    """The row of a setting in a settings file; None where it is not there."""
    rows = toml.key_rows(path.read_text(encoding="utf-8-sig"))
    return rows.get(("tool", "llm-lint", name) if path.name == "pyproject.toml" else (name,))


def _toml(value: Any) -> str:  # noqa: ANN401 - JSON
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        items = [f"{json.dumps(name)} = {_toml(each)}" for name, each in table.items()]
        return f"{{ {', '.join(items)} }}" if items else "{}"
    # Strings, numbers, booleans and lists look alike in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)
