"""What a setting may hold: each kind reads a TOML value and writes its own part of the JSON schema.

By hand, not with pydantic or msgspec: reading settings is on the start-up path of every hook, where the first costs
more than the whole lint of a file, and both are native packages that can't ride inside an editor extension.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from llm_lsp.diagnostic import Severity
from llm_lsp.toml import KeyPath

__all__ = ["Choice", "Flag", "Kind", "ListOf", "SeverityOr", "Size", "Specifier", "TableOf", "Text", "WrongValueError"]


class WrongValueError(Exception):
    """A value that its setting can't hold; `path` leads to it from the settings table."""

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path = path


class Kind(Protocol):
    """The type of a setting."""

    @property
    def words(self) -> str:
        """The type as a person reads it, after "must be"."""
        ...

    def read(self, value: object, path: KeyPath) -> Any:  # noqa: ANN401 (the dataclass field has the type)
        """The value as `Settings` holds it.

        Raises:
            WrongValueError: the value is not of this kind.
        """
        ...

    def schema(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    words: str = "true or false"

    def read(self, value: object, path: KeyPath) -> bool:
        if not isinstance(value, bool):
            raise _mismatch(path, self, value)
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Text:
    """A string that says something."""

    words: str = "a string"

    def read(self, value: object, path: KeyPath) -> str:
        if not isinstance(value, str):
            raise _mismatch(path, self, value)
        if not value.strip() or "\0" in value:
            raise WrongValueError(path, f"{_name(path)} must not be empty or hold a null character")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes above 0."""

    words: str = "a whole number of bytes above 0"

    def read(self, value: object, path: KeyPath) -> int:
        # `true` is an `int` to Python.
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise _mismatch(path, self, value)
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": 1}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    @property
    def words(self) -> str:
        return "one of " + ", ".join(f'"{option}"' for option in self.options)

    def read(self, value: object, path: KeyPath) -> str:
        if value not in self.options:
            raise _mismatch(path, self, value)
        return str(value)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options)}


@dataclass(frozen=True, slots=True)
class SeverityOr:
    """A severity, or the word that stands for none, which reads as None."""

    none: str

    @property
    def _choice(self) -> Choice:
        return Choice((*(severity.value for severity in Severity), self.none))

    @property
    def words(self) -> str:
        return self._choice.words

    def read(self, value: object, path: KeyPath) -> Severity | None:
        word = self._choice.read(value, path)
        return None if word == self.none else Severity(word)

    def schema(self) -> dict[str, Any]:
        return self._choice.schema()


@dataclass(frozen=True, slots=True)
class Specifier:
    """Versions of a package."""

    words: str = 'a version specifier such as ">=5" or ">=4.40,<5"'

    def read(self, value: object, path: KeyPath) -> str:
        if not isinstance(value, str):
            raise _mismatch(path, self, value)
        from packaging.specifiers import InvalidSpecifier, SpecifierSet

        try:
            SpecifierSet(value)
        except InvalidSpecifier as error:
            hint = f"; did you mean `=={value.strip()}`?" if value.strip()[:1].isdigit() else ""
            raise WrongValueError(path, f"{_name(path)} must be {self.words}, not `{value}`{hint}") from error
        if not value.strip():
            raise WrongValueError(path, f"{_name(path)} must be {self.words}; leave it out where every version will do")
        return value.strip()

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^\\s*(===?|~=|!=|<=?|>=?)"}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of strings, without meaning in its order."""

    words: str
    may_be_empty: bool = True
    when_empty: str = ""
    """What to write instead of an empty list."""

    def read(self, value: object, path: KeyPath) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise _mismatch(path, self, value)
        items = cast("list[object]", value)
        if not items and not self.may_be_empty:
            raise WrongValueError(path, f"{_name(path)} must not be empty: {self.when_empty}")
        return tuple(Text().read(item, (*path, index)) for index, item in enumerate(items))

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": Text().schema()}
        return schema if self.may_be_empty else {**schema, "minItems": 1}


@dataclass(frozen=True, slots=True)
class TableOf:
    """A table whose keys the user chooses."""

    words: str
    values: Kind

    def read(self, value: object, path: KeyPath) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise _mismatch(path, self, value)
        table = cast("dict[str, object]", value)
        return {key: self.values.read(item, (*path, key)) for key, item in table.items()}

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
