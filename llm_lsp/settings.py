"""The settings of a project: `[tool.llm-lint]` in its pyproject.toml, or an `llm-lint.toml`.

A setting is one field of `Settings`: its key, type, default and description stand there once, and the reader, the
JSON schema and `llm-lint config` are made from them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, cast

from llm_lsp import __version__
from llm_lsp.diagnostic import Severity
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:  # most folders that a hook runs in have no settings to be read
    from llm_lsp.setting_kinds import (
        Choice,
        Flag,
        Glob,
        Kind,
        ListOf,
        SeverityOr,
        Size,
        Specifier,
        TableOf,
        Text,
    )
    from llm_lsp.toml import KeyPath

__all__ = [
    "DEFAULT_EXCLUDE",
    "OUTPUT_FORMATS",
    "OWN_NAMES",
    "Key",
    "Settings",
    "SettingsError",
    "check_codes",
    "error_at",
    "find",
    "find_in",
    "keys",
    "load",
    "schema",
    "unknown_selector",
]

OUTPUT_FORMATS = ("concise", "full", "grouped", "json", "json-lines", "github", "gitlab", "junit", "sarif")

DEFAULT_EXCLUDE = (
    ".bzr",
    ".cache",
    ".direnv",
    ".eggs",
    ".git",
    ".git-rewrite",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pants.d",
    ".pyenv",
    ".pytest_cache",
    ".pytype",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "buck-out",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)

OWN_NAMES = (".llm-lint.toml", "llm-lint.toml")
"""Settings files that are nothing else, the one that counts first."""
_PYPROJECT = "pyproject.toml"
_TABLE = "[tool.llm-lint]"


class SettingsError(Exception):
    """Settings that can't be used; says where, and what to write instead."""

    def __init__(self, path: Path, line: int | None, message: str) -> None:
        place = _shown(path) if line is None else f"{_shown(path)}:{line}"
        super().__init__(f"{place}: {message}")
        self.path = path
        self.line = line
        self.message = message


_SELECTORS = "a list of codes, prefixes of codes or names of rules"
_GLOBS = "a list of patterns as in .gitignore"
_NONE: Mapping[str, Any] = MappingProxyType({})


class Settings(NamedTuple):
    """What one settings file and the files that it extends say; the defaults where there is none.

    Patterns count from `root`, which is the working directory where nothing is said. `target_versions` maps a
    distribution to a version specifier; a severity of None is "off", a `fail_on` of None "never"; an empty `select`
    means the rules that are on by default.
    """

    # Annotations are text, so nothing of them is made where no settings file is read.
    select: Annotated[
        tuple[str, ...],
        ListOf(_SELECTORS, instead_of_empty="leave it out for the rules that are on by default"),
        "The rules to run, by code (`LLM101`), prefix (`LLM1`), name (`half-on-cpu`) or `ALL`. "
        "Without it, the rules that are on by default.",
    ] = ()
    extend_select: Annotated[tuple[str, ...], ListOf(_SELECTORS), "Rules to run besides those of `select`."] = ()
    ignore: Annotated[
        tuple[str, ...],
        ListOf(_SELECTORS),
        "Rules not to run. Of two entries that speak of one rule the more precise one wins.",
    ] = ()
    per_file_ignores: Annotated[
        Mapping[str, tuple[str, ...]],
        TableOf("a table from patterns as in .gitignore to lists of rules", ListOf(_SELECTORS), Glob()),
        "Rules not to run on the files that match a pattern; `!` before a pattern means the files that do not.",
    ] = _NONE
    severity: Annotated[
        Mapping[str, Severity | None],
        TableOf("a table from codes or names of rules to severities", SeverityOr("off")),
        "Severities that replace the rules' own; `off` switches a rule off. A report that a rule takes less seriously "
        "than its others is not raised.",
    ] = _NONE
    fail_on: Annotated[
        Severity | None,
        SeverityOr("never"),
        "The least severity that makes `llm-lint check` exit with 1.",
    ] = Severity.WARNING
    target_versions: Annotated[
        Mapping[str, str],
        TableOf("a table from distributions to version specifiers", Specifier()),
        'The library versions that the code must work with, such as `transformers = ">=5"`. '
        "They count before those of lock files, declarations and the installed environment.",
    ] = _NONE
    python: Annotated[
        Path | None,
        Text("the path of a Python interpreter, a virtual environment or a site-packages folder"),
        "The interpreter, virtual environment or site-packages folder whose installed versions count, from the "
        "folder of the settings file. `check` looks at it and never runs it; `probe` runs your program in it.",
    ] = None
    exclude: Annotated[
        tuple[str, ...],
        ListOf(_GLOBS, Glob()),
        "Files and folders that are passed over, with the rules of .gitignore, from the folder of the settings "
        "file. Replaces the default list.",
    ] = DEFAULT_EXCLUDE
    extend_exclude: Annotated[
        tuple[str, ...], ListOf(_GLOBS, Glob()), "Files and folders to pass over besides those of `exclude`."
    ] = ()
    respect_gitignore: Annotated[bool, Flag(), "Pass over what .gitignore files exclude."] = True
    force_exclude: Annotated[
        bool, Flag(), "Pass over excluded files even where they are named on the command line."
    ] = False
    max_source_size: Annotated[
        int,
        Size(),
        "Bytes of source above which a file is not analysed (LLM002); of a notebook its code counts.",
    ] = 1_000_000
    output_format: Annotated[str, Choice(*OUTPUT_FORMATS), "How `llm-lint check` prints what it found."] = "full"
    required_version: Annotated[
        str | None,
        Specifier(),
        "The versions of llm-lint that these settings are for; any other one refuses.",
    ] = None
    extend: Annotated[
        Path | None,
        Text("the path of a settings file"),
        "A settings file to start from, by its path from this one. A key here replaces the same key there; "
        "`extend-select` and `extend-exclude` add up, and tables are merged key by key.",
    ] = None
    root: Path = Path()
    files: tuple[Path, ...] = ()
    """The files that these settings were read from, the nearest one first; none for the defaults."""

    def ignored_in(self, path: Path) -> tuple[str, ...]:
        """The selectors of `per_file_ignores` that hold for a file."""
        if not self.per_file_ignores:
            return ()
        from llm_lsp.globs import Globs

        absolute = Path(os.path.abspath(path))  # noqa: PTH100 (`resolve` would follow symbolic links)
        root = Path.cwd() / self.root
        inside = absolute.relative_to(root) if absolute.is_relative_to(root) else Path(absolute.name)
        ignored: list[str] = []
        for pattern, selectors in self.per_file_ignores.items():
            matches = Globs([pattern.removeprefix("!")]).verdict(inside.as_posix()) is True
            if matches is not pattern.startswith("!"):
                ignored.extend(selectors)
        return tuple(ignored)

    def shown(self) -> dict[str, Any]:
        """The settings by key, as plain values that JSON can hold; for `--show-settings`."""
        return {key.name: _plain(key, getattr(self, key.attribute)) for key in keys()}


class Key(NamedTuple):
    """A setting as `llm-lint config` describes it."""

    name: str
    attribute: str
    kind: Kind
    default: object
    """As a plain value that JSON can hold; None where there is none."""
    description: str


def keys() -> tuple[Key, ...]:
    """Every setting, in the order in which they are documented."""
    from typing import get_type_hints

    from llm_lsp import setting_kinds

    found: list[Key] = []
    defaults = Settings()
    for attribute, hint in get_type_hints(Settings, localns=vars(setting_kinds), include_extras=True).items():
        if hasattr(hint, "__metadata__"):
            key = Key(attribute.replace("_", "-"), attribute, hint.__metadata__[0], None, hint.__metadata__[1])
            found.append(key._replace(default=_plain(key, getattr(defaults, attribute))))
    return tuple(found)


def schema() -> dict[str, Any]:
    """The JSON schema of an `llm-lint.toml`, which is also that of the table `[tool.llm-lint]`."""
    properties = {
        key.name: {"description": key.description, **key.kind.schema()}
        | ({} if key.default is None else {"default": key.default})
        for key in keys()
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of llm-lint",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }


def find(file: Path) -> Path | None:
    """The settings file that holds for `file`: the nearest one upward."""
    for folder in Path(os.path.abspath(file)).parents:  # noqa: PTH100 (`resolve` would follow symbolic links)
        found = find_in(folder)
        if found is not None:
            return found
    return None


def find_in(folder: Path) -> Path | None:
    """The settings file of this very folder; a pyproject.toml counts only with our table.

    Raises:
        SettingsError: the folder's pyproject.toml names us, but can't be parsed.
    """
    for name in OWN_NAMES:
        if os.path.isfile(folder / name):  # noqa: PTH113 (`Path.is_file` raises in a folder that is closed to us)
            return folder / name
    path = folder / _PYPROJECT
    if not os.path.isfile(path):  # noqa: PTH113 (as above)
        return None
    try:
        text = _text(path)
    except SettingsError:
        return None  # of another tool, as far as anybody can tell
    return path if "llm-lint" in text and _table(path, text) is not None else None


def load(path: Path, *, root: Path | None = None) -> Settings:
    """The settings of a file and of those that it extends.

    Args:
        path: a pyproject.toml, or a file whose top level is the settings table.
        root: the folder that patterns count from, where that is not the file's own.

    Raises:
        SettingsError: a file that can't be read, a wrong key, type or value, or a release that is not wanted.
    """
    path = Path(os.path.abspath(path))  # noqa: PTH100 (`resolve` would follow symbolic links)
    layers: list[_Layer] = []
    following: Path | None = path
    while following is not None:
        layer = _read_layer(following, layers)
        layers.append(layer)
        following = layer.values.get("extend")
    values: dict[str, Any] = {}
    for layer in reversed(layers):
        _merge(values, layer.values)
    values["extend"] = layers[0].values.get("extend")
    return Settings(**values, root=root or path.parent, files=tuple(layer.path for layer in layers))


def unknown_selector(selector: str, known: Mapping[str, str], *, prefixes: bool = True) -> str | None:
    """What is wrong with a code, prefix or name of a rule, with the nearest right one; None where it is known.

    Args:
        selector: as the user wrote it.
        known: the names of all rules by code.
        prefixes: whether a prefix of a code may stand for all its rules.
    """
    if selector in known or selector in known.values():
        return None
    if prefixes and (selector == "ALL" or any(code.startswith(selector) for code in known)):
        return None
    return f"unknown rule `{selector}`{_suggestion(selector, [*known, *known.values()])}"


def check_codes(settings: Settings, known: Mapping[str, str]) -> None:
    """Raise `SettingsError` for a rule that nobody has.

    Args:
        settings: as loaded.
        known: the names of all rules by code, those of the settings' rule packs included.
    """
    written: list[tuple[tuple[str, ...], Iterable[str]]] = [
        (("select",), settings.select),
        (("extend-select",), settings.extend_select),
        (("ignore",), settings.ignore),
        *((("per-file-ignores", pattern), each) for pattern, each in settings.per_file_ignores.items()),
        (("severity",), settings.severity),
    ]
    for key, selectors in written:
        for selector in selectors:
            message = unknown_selector(selector, known, prefixes=key != ("severity",))
            if message is not None:
                path, line = _place_of(settings, key, selector)
                raise SettingsError(path, line, message)


def error_at(settings: Settings, key: str, message: str) -> SettingsError:
    """The error that a key's value turns out to be, with the place where the key is written."""
    for path in settings.files:
        if key in (_table(path, _text(path)) or {}):
            return SettingsError(path, _line(path, (key,)), message)
    return SettingsError(settings.root, None, message)


# ---------------------------------------------------------------- one file


class _Layer(NamedTuple):
    path: Path
    values: Mapping[str, Any]
    """By attribute of `Settings`."""


def _read_layer(path: Path, before: Iterable[_Layer]) -> _Layer:
    from llm_lsp.setting_kinds import WrongValueError

    origin = next(reversed([*before]), None)
    try:
        text = _text(path)
        table = _table(path, text)
    except SettingsError as error:
        if origin is None or error.line is not None:
            raise
        raise SettingsError(origin.path, _line(origin.path, ("extend",)), f"`extend`: {error}") from error
    if table is None:
        raise SettingsError(path, None, f"no table {_TABLE}")
    line = _Lines(path, text)
    _check_version(table, path, line)
    known = {key.name: key for key in keys()}
    values: dict[str, Any] = {}
    for name, value in table.items():
        if name not in known:
            raise SettingsError(path, line((name,)), _unknown_key(name, path, known))
        try:
            values[known[name].attribute] = known[name].kind.read(value, (name,))
        except WrongValueError as error:
            raise SettingsError(path, line(error.path), str(error)) from error
    for name in ("extend", "python"):
        if name in values:
            values[name] = _path_from(path, values[name])
    seen = [layer.path for layer in before] + [path]
    if values.get("extend") in seen:
        chain = " -> ".join(_shown(each) for each in [*seen, values["extend"]])
        raise SettingsError(path, line(("extend",)), f"`extend` leads in a circle: {chain}")
    return _Layer(path, values)


def _text(path: Path) -> str:
    # A pipe or a device might never end.
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 (as above)
        raise SettingsError(path, None, "is not a file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SettingsError(path, None, f"can't be read: {error.strerror or error}") from error
    try:
        # Some Windows editors begin UTF-8 with a byte-order mark, which TOML does not know.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(path, data.count(b"\n", 0, error.start) + 1, "not UTF-8, as TOML must be") from error


def _table(path: Path, text: str) -> dict[str, Any] | None:
    from llm_lsp import toml

    try:
        document = toml.parse(text)
    except toml.InvalidTomlError as error:
        raise SettingsError(path, error.row, f"not TOML: {error}") from error
    if path.name != _PYPROJECT:
        return document
    tool: Any = document.get("tool")
    table: Any = cast("dict[str, Any]", tool).get("llm-lint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(path, _Lines(path, text)(()), f"`tool.llm-lint` must be a table, {_TABLE}")
    return cast("dict[str, Any] | None", table)


class _Lines:
    """The line of a key, or of the nearest key around it."""

    def __init__(self, path: Path, text: str) -> None:
        self.prefix: KeyPath = ("tool", "llm-lint") if path.name == _PYPROJECT else ()
        self.text = text

    def __call__(self, key: KeyPath) -> int:
        from llm_lsp import toml

        rows = toml.key_rows(self.text)
        path = self.prefix + key
        while path and path not in rows:
            path = path[:-1]
        return rows.get(path, 1)


def _check_version(table: Mapping[str, Any], path: Path, line: Callable[[KeyPath], int]) -> None:
    """Before anything else: a newer release's keys are unknown to this one, and that is not the user's mistake."""
    if "required-version" not in table:
        return
    from llm_lsp.setting_kinds import Specifier, WrongValueError
    from llm_lsp.versions import Requirement

    try:
        wanted = Specifier().read(table["required-version"], ("required-version",))
    except WrongValueError as error:
        raise SettingsError(path, line(error.path), str(error)) from error
    if not Requirement((f"=={__version__}",), "").admits(wanted):
        message = f"these settings are for llm-lint {wanted}, and this is {__version__}: install the one they ask for"
        raise SettingsError(path, line(("required-version",)), message)


def _unknown_key(name: str, path: Path, known: Mapping[str, Key]) -> str:
    where = f" in {_TABLE}" if path.name == _PYPROJECT else ""
    if name == "tool" and not where:
        return f"the keys stand at the top level of {path.name}, without {_TABLE}"
    return f"unknown key `{name}`{where}{_suggestion(name, known) or '; `llm-lint config` lists them all'}"


def _path_from(settings_file: Path, written: str) -> Path:
    joined = settings_file.parent / os.path.expanduser(written)  # noqa: PTH111 (`Path.expanduser` raises without a home)
    return Path(os.path.abspath(joined))  # noqa: PTH100 (`resolve` would follow symbolic links)


def _merge(values: dict[str, Any], nearer: Mapping[str, Any]) -> None:
    for name, value in nearer.items():
        if name.startswith("extend_"):
            values[name] = (*values.get(name, ()), *value)
        elif isinstance(value, Mapping):
            values[name] = {**values.get(name, {}), **value}
        else:
            values[name] = value


# ---------------------------------------------------------------- messages


def _place_of(settings: Settings, key: tuple[str, ...], selector: str) -> tuple[Path, int | None]:
    """Where a selector is written: in the nearest of the settings' files that has it."""
    for path in settings.files:
        value: Any = _table(path, _text(path)) or {}
        for name in key:
            value = value.get(name, {})
        if selector in value:
            return path, _line(path, (*key, selector if isinstance(value, dict) else value.index(selector)))
    return settings.root, None


def _line(path: Path, key: KeyPath) -> int:
    return _Lines(path, _text(path))(key)


def _suggestion(word: str, right: Iterable[str]) -> str:
    from difflib import get_close_matches

    by_folded = {each.casefold(): each for each in right}
    near = get_close_matches(word.casefold().replace("_", "-"), by_folded, n=1)
    return f"; did you mean `{by_folded[near[0]]}`?" if near else ""


def _plain(key: Key, value: object) -> Any:  # noqa: ANN401 (JSON)
    from llm_lsp.setting_kinds import SeverityOr, TableOf

    if isinstance(key.kind, SeverityOr):
        return value.value if isinstance(value, Severity) else key.kind.none
    if isinstance(key.kind, TableOf):
        return dict(_plain_items(key.kind.values, cast("Mapping[str, object]", value)))
    if isinstance(value, tuple):
        return list(cast("tuple[str, ...]", value))
    return value.as_posix() if isinstance(value, Path) else value


def _plain_items(kind: Kind, table: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        yield name, _plain(Key(name, name, kind, None, ""), value)


def _shown(path: Path) -> str:
    working = Path.cwd()
    return (path.relative_to(working) if path.is_relative_to(working) else path).as_posix()
