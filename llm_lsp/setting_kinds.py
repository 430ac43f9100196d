"""What a setting may hold: each kind reads a TOML value and writes its own part of the JSON schema.

By hand, not with pydantic or msgspec: reading settings is on the start-up path of every hook, where the first costs
more than the whole lint of a file, and both are native packages that can't ride inside an editor extension.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

from llm_lsp.diagnostic import Severity
from llm_lsp.globs import is_pattern
from llm_lsp.toml import KeyPath
from llm_lsp.versions import is_specifier

__all__ = [
    "Choice",
    "Flag",
    "Glob",
    "Kind",
    "ListOf",
    "SeverityOr",
    "Size",
    "Specifier",
    "TableOf",
    "Text",
    "WrongValueError",
]


class WrongValueError(Exception):
    """A value that its setting can't hold; `path` leads to it from the settings table."""

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path = path


class Kind(Protocol):
    """The type of a setting."""

    words: str
    """The type as a person reads it, after "must be"."""

    def read(self, value: object, path: KeyPath) -> Any:  # noqa: ANN401 (the dataclass field has the type)
        """The value as `Settings` holds it.

        Raises:
            WrongValueError: the value is not of this kind.
        """
        ...

    def schema(self) -> dict[str, Any]: ...


class Flag:
    """True or false."""

    words = "true or false"

    def read(self, value: object, path: KeyPath) -> bool:
        if not isinstance(value, bool):
            raise _mismatch(path, self, value)
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


class Text:
    """A string that says something."""

    def __init__(self, words: str = "a string") -> None:
        self.words = words

    def read(self, value: object, path: KeyPath) -> str:
        if not isinstance(value, str):
            raise _mismatch(path, self, value)
        if not value.strip() or "\0" in value:
            raise WrongValueError(path, f"{_name(path)} must not be empty or hold a null character")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


class Glob(Text):
    """A path pattern as in .gitignore."""

    def __init__(self) -> None:
        super().__init__("a pattern as in .gitignore")

    def read(self, value: object, path: KeyPath) -> str:
        pattern = super().read(value, path)
        if not is_pattern(pattern.removeprefix("!")):
            raise WrongValueError(path, f"{_name(path)} must be {self.words}, not `{pattern}`")
        return pattern


class Size:
    """A number of bytes above 0."""

    words = "a whole number of bytes above 0"

    def read(self, value: object, path: KeyPath) -> int:
        # `true` is an `int` to Python.
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise _mismatch(path, self, value)
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": 1}


class Choice:
    """One of a few words."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self.words = "one of " + ", ".join(f'"{option}"' for option in options)

    def read(self, value: object, path: KeyPath) -> str:
        if value not in self._options:
            raise _mismatch(path, self, value)
        return str(value)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self._options)}


class SeverityOr:
    """A severity, or the word that stands for none, which reads as None."""

    def __init__(self, none: str) -> None:
        self.none = none
        self._choice = Choice(*(severity.value for severity in Severity), none)
        self.words = self._choice.words

    def read(self, value: object, path: KeyPath) -> Severity | None:
        word = self._choice.read(value, path)
        return None if word == self.none else Severity(word)

    def schema(self) -> dict[str, Any]:
        return self._choice.schema()


class Specifier:
    """Versions of a package."""

    words = 'a version specifier such as ">=5" or ">=4.40,<5"'

    def read(self, value: object, path: KeyPath) -> str:
        if not isinstance(value, str):
            raise _mismatch(path, self, value)
        specifier = value.strip()
        if not specifier:
            raise WrongValueError(path, f"{_name(path)} must be {self.words}; leave it out where every version will do")
        if not is_specifier(specifier):
            hint = f"; did you mean `=={specifier}`?" if specifier[0].isdigit() else ""
            raise WrongValueError(path, f"{_name(path)} must be {self.words}, not `{value}`{hint}")
        return specifier

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^\\s*(===?|~=|!=|<=?|>=?)"}


class ListOf:
    """A list of strings, without meaning in its order."""

    def __init__(self, words: str, item: Text | None = None, *, instead_of_empty: str = "") -> None:
        """`instead_of_empty` is what to write instead of an empty list, where there must be none."""
        self.words = words
        self._item = item or Text()
        self._instead_of_empty = instead_of_empty

    def read(self, value: object, path: KeyPath) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise _mismatch(path, self, value)
        items = cast("list[object]", value)
        if not items and self._instead_of_empty:
            raise WrongValueError(path, f"{_name(path)} must not be empty: {self._instead_of_empty}")
        return tuple(self._item.read(item, (*path, index)) for index, item in enumerate(items))

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self._item.schema()}
        return {**schema, "minItems": 1} if self._instead_of_empty else schema


class TableOf:
    """A table whose keys the user chooses."""

    def __init__(self, words: str, values: Kind, keys: Text | None = None) -> None:
        self.words = words
        self.values = values
        self._keys = keys or Text()

    def read(self, value: object, path: KeyPath) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise _mismatch(path, self, value)
        table = cast("dict[str, object]", value)
        return {self._keys.read(key, (*path, key)): self.values.read(item, (*path, key)) for key, item in table.items()}

    def schema(self) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.values.schema()}


_TYPE_WORDS: dict[type[Any], str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}


def _mismatch(path: KeyPath, kind: Kind, value: object) -> WrongValueError:
    if isinstance(value, (str, int)) and len(shown := f"{value!r}") <= 40:
        given = "`" + ({True: "true", False: "false"}[value] if isinstance(value, bool) else shown) + "`"
    else:
        given = _TYPE_WORDS.get(type(value), "a date or time")
    return WrongValueError(path, f"{_name(path)} must be {kind.words}, not {given}")


def _name(path: KeyPath) -> str:
    words = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return f"`{words.removeprefix('.')}`"
