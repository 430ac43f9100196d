"""The library versions that the files of one folder declare or lock; nothing is executed, setup.py least of all.

A dependency without a version counts as no declaration. One whose version can't be read (a Git address, a syntax of
its own) counts as any version, so that nothing is concluded from it. Environment markers are passed over: the
specifiers under each are alternatives.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast

from llm_lsp.named_tuples import NamedTuple
from llm_lsp.versions import Requirement, normalised

__all__ = ["from_lines", "read"]

_LOCKS = ("uv.lock", "poetry.lock")
_CONDA_FILES = ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml")
_MAX_BYTES = 20_000_000
"""The largest lock files seen are a tenth of this."""


class _Declared(NamedTuple):
    distribution: str
    """Normalised."""
    specifier: str
    """Empty: any version."""


def read(folder: Path, names: Iterable[str]) -> Mapping[str, Requirement]:
    """What the files of a folder say, by normalised distribution name; a lock goes before declarations.

    Args:
        folder: whose files are read.
        names: of the files and folders in it.
    """
    present = frozenset(names)
    declared = _collect(
        (name, reader(folder / name))
        for name in sorted(present)
        for reader in (_reader_of(name),)
        if reader is not None
    )
    if "requirements" in present and os.path.isdir(folder / "requirements"):  # noqa: PTH112
        inside = folder / "requirements"
        files = sorted(path.name for path in _entries(inside) if path.suffix in (".txt", ".in"))
        declared = _collect((f"requirements/{name}", _from_requirements(inside / name)) for name in files) | declared
    locked = _collect((name, _from_lock(folder / name)) for name in _LOCKS if name in present)
    return declared | locked


def from_lines(lines: Iterable[str], source: str) -> Mapping[str, Requirement]:
    """What requirement strings such as `transformers>=5` say, by normalised distribution name."""
    return _collect([(source, _from_strings(lines))])


def _collect(files: Iterable[tuple[str, Iterable[_Declared]]]) -> dict[str, Requirement]:
    """Every specifier of a distribution is an alternative: which of several files is installed is not known."""
    found: dict[str, dict[str, None]] = {}
    sources: dict[str, dict[str, None]] = {}
    for source, declared in files:
        for distribution, specifier in declared:
            found.setdefault(distribution, {})[specifier] = None
            sources.setdefault(distribution, {})[source] = None
    return {name: Requirement(tuple(found[name]), ", ".join(sources[name])) for name in found}


def _reader_of(name: str) -> Callable[[Path], Iterable[_Declared]] | None:
    if name == "pyproject.toml":
        return _from_pyproject
    if name == "setup.cfg":
        return _from_setup_cfg
    if name in _CONDA_FILES:
        return _from_conda
    if name.endswith((".txt", ".in")) and "requirements" in name:
        return _from_requirements
    return None


# ---------------------------------------------------------------- requirement strings


def _from_strings(lines: Iterable[str]) -> Iterator[_Declared]:
    for line in lines:
        declared = _from_string(line)
        if declared is not None:
            yield declared


def _from_string(text: str) -> _Declared | None:
    """`name[extras] specifier ; marker`, or `name @ address`; None for anything without a version."""
    requirement = text.partition(";")[0].partition(" #")[0].strip()
    end = next((i for i, char in enumerate(requirement) if not (char.isalnum() or char in "-_.")), len(requirement))
    name, rest = normalised(requirement[:end]), requirement[end:].strip()
    if rest.startswith("["):
        rest = rest.partition("]")[2].strip()
    if rest.startswith("(") and rest.endswith(")"):
        rest = rest[1:-1].strip()
    if not name or not rest:
        return None
    return _Declared(name, rest if _is_specifier(rest) else "")


def _is_specifier(text: str) -> bool:
    return text[0] in "=<>!~" and not text.startswith("=>")


# ---------------------------------------------------------------- requirements*.txt


def _from_requirements(path: Path, seen: frozenset[Path] = frozenset()) -> Iterator[_Declared]:
    """The file's lines, and those of the files that it names with `-r` and `-c`."""
    if path in seen:
        return
    for line in _logical_lines(_text(path)):
        if line.startswith(("-r", "-c", "--requirement", "--constraint")):
            option = line.replace("=", " ").split(None, 1)
            named = option[1] if len(option) > 1 else line[2:]
            if not line.startswith("--") and not line[2:3].isspace():
                named = line[2:]
            other = Path(os.path.abspath(path.parent / named.strip()))  # noqa: PTH100 (`resolve` follows links)
            # One above the file belongs to another project, or to nobody.
            if "://" not in named and other.is_relative_to(path.parent.parent):
                yield from _from_requirements(other, seen | {path})
        elif not line.startswith("-"):
            # Options such as `--hash` follow the requirement.
            declared = _from_string(line.partition(" --")[0])
            if declared is not None:
                yield declared


def _logical_lines(text: str) -> Iterator[str]:
    pending = ""
    for line in text.splitlines():
        pending += line
        if pending.endswith("\\"):
            pending = pending[:-1]
            continue
        if pending.strip() and not pending.lstrip().startswith("#"):
            yield pending.strip()
        pending = ""
    if pending.strip():
        yield pending.strip()


# ---------------------------------------------------------------- pyproject.toml, setup.cfg


def _from_pyproject(path: Path) -> Iterator[_Declared]:
    from llm_lsp import toml

    try:
        document = toml.parse(_text(path))
    except toml.InvalidTomlError:
        return
    project = _table(document, "project")
    yield from _from_strings(_strings(project.get("dependencies")))
    for group in (*_table(project, "optional-dependencies").values(), *_table(document, "dependency-groups").values()):
        yield from _from_strings(_strings(group))
    poetry = _table(document, "tool", "poetry")
    tables = [_table(poetry, "dependencies"), _table(poetry, "dev-dependencies")]
    tables += [_table(_table(poetry, "group"), name, "dependencies") for name in _table(poetry, "group")]
    for table in tables:
        for name, wanted in table.items():
            several = cast("list[object]", wanted) if isinstance(wanted, list) else [wanted]
            for each in several:
                yield from _from_poetry(name, each)


def _from_poetry(name: str, wanted: object) -> Iterator[_Declared]:
    distribution = normalised(name)
    if isinstance(wanted, dict):
        table = cast("dict[str, object]", wanted)
        if not {"git", "url", "path", "file"}.isdisjoint(table):
            yield _Declared(distribution, "")
            return
        wanted = table.get("version")
    if isinstance(wanted, str) and wanted.strip() not in ("", "*"):
        for alternative in wanted.split("||"):
            parts = [_pep440(part.strip()) for part in alternative.split(",") if part.strip()]
            yield _Declared(distribution, ",".join(parts) if all(parts) else "")


def _pep440(poetry: str) -> str:
    """Poetry's `^4.40`, `~4.40` and `4.40` as the specifiers that they stand for; empty where that can't be told."""
    if poetry[0] in "^~" and not poetry.startswith("~="):
        release = poetry[1:].strip().split(".")
        if not all(part.isdecimal() for part in release):
            return ""
        numbers = [int(part) for part in release]
        # A caret keeps the first number that is not 0, a tilde the second one if there are two.
        kept = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
        if poetry[0] == "~":
            kept = min(1, len(numbers) - 1)
        above = [*numbers[:kept], numbers[kept] + 1]
        return f">={'.'.join(release)},<{'.'.join(map(str, above))}"
    if poetry[0].isdigit():
        return f"=={poetry}"
    return poetry if _is_specifier(poetry) else ""


def _from_setup_cfg(path: Path) -> Iterator[_Declared]:
    from configparser import ConfigParser, Error

    parser = ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(_text(path))
    except Error:
        return
    values = [parser.get("options", "install_requires", fallback="")]
    if parser.has_section("options.extras_require"):
        values += [value for _, value in parser.items("options.extras_require")]
    for value in values:
        yield from _from_strings(line for line in value.splitlines() if not line.lstrip().startswith("#"))


def _table(outer: Mapping[str, object], key: str, *inner: str) -> Mapping[str, object]:
    value = outer.get(key)
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    return _table(table, *inner) if inner else table


def _strings(value: object) -> list[str]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [item for item in items if isinstance(item, str)]


# ---------------------------------------------------------------- environment.yml


def _from_conda(path: Path) -> Iterator[_Declared]:
    """A scan for list items of the `dependencies` key, those under `pip:` included; no YAML parser is needed for it."""
    inside = in_pip = False
    pip_indent = 0
    for line in _text(path).splitlines():
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if not stripped or stripped.startswith("#"):
            continue
        if not stripped.startswith("-"):
            if indent == 0:
                inside = stripped.partition(":")[0] == "dependencies"
            continue
        if not inside:
            continue
        item = stripped[1:].partition(" #")[0].strip().strip("'\"")
        in_pip = in_pip and indent > pip_indent
        if item == "pip:":
            in_pip, pip_indent = True, indent
        elif not item.startswith("-"):
            declared = _from_string(item) if in_pip else _from_conda_spec(item)
            if declared is not None:
                yield declared


def _from_conda_spec(spec: str) -> _Declared | None:
    """`channel::name=version=build`, or a name with the operators of PEP 440."""
    spec = spec.rpartition("::")[2].partition("[")[0]
    end = next((i for i, char in enumerate(spec) if char in "=<>!~ "), len(spec))
    name, wanted = normalised(spec[:end]), spec[end:].strip()
    distribution = "torch" if name in ("pytorch", "pytorch-gpu", "pytorch-cpu") else name
    if not wanted or wanted in ("*", "=*"):
        return None
    if "|" in wanted or " " in wanted:
        return _Declared(distribution, "")
    if wanted[0] == "=" and wanted[1:2] != "=":
        version = wanted[1:].partition("=")[0].removesuffix(".*").removesuffix("*")
        return _Declared(distribution, f"=={version}.*")
    if wanted.startswith("==") or wanted[0].isdigit():
        return _Declared(distribution, "==" + wanted.removeprefix("==").partition("=")[0])
    return _Declared(distribution, wanted)


# ---------------------------------------------------------------- lock files


def _from_lock(path: Path) -> Iterator[_Declared]:
    """Both tools write `[[package]]`, then `name` and `version`, one a line.

    A TOML parser takes a second for a large lock file, nearly all of it for the hashes of wheels.
    """
    name = ""
    for line in _text(path).splitlines():
        if line.startswith("["):
            name = ""
        elif line.startswith("name = "):
            name = normalised(_quoted(line))
        elif line.startswith("version = ") and name:
            yield _Declared(name, f"=={_quoted(line)}")
            name = ""


def _quoted(line: str) -> str:
    return line.partition("=")[2].strip().strip("\"'")


# ---------------------------------------------------------------- files


def _text(path: Path) -> str:
    """The file's text; empty where it can't be read. PowerShell's `>` writes UTF-16."""
    if not os.path.isfile(path):  # noqa: PTH113 (takes any text, where Path.is_file raises; a pipe would be waited for)
        return ""
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_BYTES)
    except OSError:
        return ""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data.decode(encoding, errors="replace")


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
