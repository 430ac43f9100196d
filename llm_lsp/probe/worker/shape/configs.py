"""Configs of the file, and one that stands in for a config that the file does not define."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from .containers import dictionary
from .importing import UserModule
from .sizes import LAYERS, LENGTHS, Table, Value, role_of

CONFIG_NAME = re.compile(
    r"\w*(config|cfg|args|params|hparams|opts?|options|settings|hyperparameters|conf)", re.IGNORECASE
)
CONFIG_CLASS = re.compile(r"\w*(Config|Args|Cfg|Params|HParams|Conf|Options|Hyperparameters)")


class Assumption(NamedTuple):
    """Something that nobody said, or that was read somewhere."""

    what: str
    value: str
    source: str
    line: int | None = None


class NoValueError(AttributeError):
    """No value is known for an argument; `getattr` with a default takes the default."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no value is known for `{name}`")
        self.name = name


class Notes:
    """What was assumed on the way to an object."""

    def __init__(self) -> None:
        self.assumptions: list[Assumption] = []
        self.guesses = 0
        """Values that rest on a type alone, or on a name that says little."""
        self.widths: set[str] = set()

    def add(self, what: str, value: object, source: str, line: int | None = None) -> None:
        assumption = Assumption(what, value if isinstance(value, str) else repr(value), source, line)
        if assumption not in self.assumptions:
            self.assumptions.append(assumption)


def named_value(name: str, table: Table, notes: Notes, owner: str = "") -> Value:
    """The value that a name calls for.

    Raises:
        NoValueError: The name says nothing.
    """
    role = role_of(name)
    if role is None:
        raise NoValueError(owner + name)
    value = table.value(role)
    if role.is_width or role.name in ("hidden", "channels in", "channels out"):
        notes.widths.add(name)
    notes.add(owner + name, value, "stand_in" if owner else "name")
    return value


def config_classes(user: UserModule) -> list[type]:
    """Classes of the file that look like configs: dataclasses, `PretrainedConfig`s, and those with such a name."""
    found: list[type] = []
    for value in user.namespace.values():
        if not isinstance(value, type) or hasattr(value, "forward"):
            continue
        named = CONFIG_CLASS.fullmatch(value.__name__) is not None
        # Imported configs count too: `from model import GPTConfig`.
        if named or (dataclasses.is_dataclass(value) and value.__module__ == user.name):
            found.append(value)
    return found


def nearest(classes: list[type], name: str) -> type:
    """The config whose name has most in common with the model's."""
    return max(classes, key=lambda each: shared_letters(each.__name__.lower(), name.lower()))


def shared_letters(one: str, other: str) -> int:
    """How many letters two names begin with alike."""
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in pairs)


def default_config(config: type, table: Table, notes: Notes, *, shrunk: bool) -> object:
    """An instance with its defaults; what has none is filled in by name.

    Raises:
        NoValueError: A field without default whose name says nothing.
    """
    named: dict[str, object] = {}
    for parameter in inspect.signature(config).parameters.values():
        if parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            named[parameter.name] = field_value(parameter.name, parameter.annotation, table, notes, config.__name__)
    made: object = config(**named)
    if shrunk:
        shrink(made)
    return made


def field_value(name: str, annotation: object, table: Table, notes: Notes, owner: str) -> Value | str:
    try:
        return named_value(name, table, notes, f"{owner}.")
    except NoValueError:
        plain: dict[object, Value | str] = {int: 8, float: 0.1, bool: False, "int": 8, "float": 0.1, "bool": False}
        if annotation not in plain:
            raise
        notes.guesses += 1
        notes.add(f"{owner}.{name}", plain[annotation], "type")
        return plain[annotation]


def fields_of(config: object) -> Iterator[tuple[str, object]]:
    items = dictionary(config)
    if items is not None:
        yield from ((str(name), value) for name, value in items.items())
    else:
        # Class attributes are how a config without `__init__` gives its defaults.
        names = [*vars(type(config)), *getattr(config, "__dict__", ())]
        yield from ((name, getattr(config, name, None)) for name in dict.fromkeys(names) if not name.startswith("_"))


def shrink(config: object) -> None:
    """Two layers and a small vocabulary: enough to run for real what would be too large."""
    for name, value in list(fields_of(config)):
        role = role_of(name)
        if role is None or isinstance(value, bool) or not isinstance(value, int):
            continue
        small = {LAYERS: 2, "vocabulary": 211, LENGTHS: 1024}.get(role.name)
        if small is not None and value > small:
            items = dictionary(config)
            if items is not None:
                items[name] = small
            else:
                try:
                    setattr(config, name, small)
                except (AttributeError, TypeError):  # frozen, or a property
                    object.__setattr__(config, name, small)


class StandIn:
    """Stands for a config object or dictionary that the file does not define: names to small numbers."""

    def __init__(self, table: Table, notes: Notes, known: dict[str, object]) -> None:
        self.__dict__["_state"] = (table, notes, known)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: object) -> None:
        self.__dict__["_state"][2][name] = value

    def __setitem__(self, name: str, value: object) -> None:
        setattr(self, name, value)

    def __getitem__(self, name: str) -> object:
        table, notes, known = self.__dict__["_state"]
        if name not in known:
            known[name] = named_value(name, table, notes, "config.")
        return known[name]

    def get(self, name: str, default: object = None) -> object:
        known = self.__dict__["_state"][2]
        if name in known or (default is None and role_of(name) is not None):
            return self[name]
        return default

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__["_state"][2] or role_of(name) is not None
