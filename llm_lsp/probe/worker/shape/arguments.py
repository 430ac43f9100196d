"""How a class can be made: arguments from the user, a call in the file, defaults, configs, names; best first."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import NamedTuple

from torch import nn

from .classes import ModuleClass
from .configs import (
    CONFIG_NAME,
    Notes,
    NoValueError,
    StandIn,
    config_classes,
    default_config,
    named_value,
    nearest,
    shrink,
)
from .containers import dictionary, mapped
from .expressions import Evaluator, NotPlainError, is_config
from .importing import UserModule
from .sizes import Table, tables
from .user_calls import CallSite, UserCall, call_sites


class Recipe(NamedTuple):
    """One way to make the model; made anew in every mode, since tensors belong to theirs."""

    source: str
    make: Callable[[Notes, bool], nn.Module]
    """Takes where to note assumptions, and whether sizes are to be shrunk so that a real run is cheap."""
    site: CallSite | None = None
    trusted: bool = False
    """The arguments are the user's: what they lead to is the program's doing."""


def recipes(user: UserModule, target: ModuleClass, asked: UserCall | None) -> Iterator[Recipe]:
    """The ways to make the class, best first."""
    if asked is not None and asked.constructor is not None:
        yield from_user(user, target, asked)
        return
    for site in call_sites(user, target):
        if site.constructor is not None:
            yield from_call_site(user, target, site)
    required = required_parameters(target)
    if not required:
        yield Recipe("default", functools.partial(from_defaults, target), trusted=True)
    for table in tables(ast.get_source_segment(user.text, target.node) or ""):
        yield by_name(user, target, required, table)


def from_user(user: UserModule, target: ModuleClass, asked: UserCall) -> Recipe:
    call = asked.constructor

    def make(notes: Notes, shrunk: bool) -> nn.Module:
        if call is None:
            raise NoValueError(target.name)
        evaluator = Evaluator(user.namespace, {})
        notes.add(target.name, "(" + ast.unparse(call).partition("(")[2], "user", asked.line)
        return construct(target, evaluator, call, shrunk)

    return Recipe("user", make, trusted=True)


def from_call_site(user: UserModule, target: ModuleClass, site: CallSite) -> Recipe:
    def make(notes: Notes, shrunk: bool) -> nn.Module:
        evaluator = Evaluator(user.namespace, site.local, namespace_first=not site.in_function)
        if site.constructor is None:
            raise NoValueError(target.name)
        made = construct(target, evaluator, site.constructor, shrunk)
        notes.add(
            target.name, "(" + ast.unparse(site.constructor).partition("(")[2], "callsite", site.constructor.lineno
        )
        return made

    return Recipe("callsite", make, site, trusted=True)


def construct(target: ModuleClass, evaluator: Evaluator, call: ast.Call, shrunk: bool) -> nn.Module:
    arguments = evaluator.items(call.args)
    named: dict[str, object] = {}
    for keyword in call.keywords:
        value = evaluator.value(keyword.value)
        items = mapped(value)
        if keyword.arg is not None:
            named[keyword.arg] = value
        elif items is not None:
            named.update({str(key): each for key, each in items.items()})
        else:
            raise NotPlainError(ast.unparse(call))
    if shrunk:
        for value in (*arguments, *named.values()):
            if dictionary(value) is not None or dataclasses.is_dataclass(value) or is_config(value):
                shrink(value)
        shrink(named)
    return target.made(*arguments, **named)


def from_defaults(target: ModuleClass, notes: Notes, shrunk: bool) -> nn.Module:
    named: dict[str, object] = {}
    if shrunk:
        parameters = list(inspect.signature(target.made.__init__).parameters.values())[1:]
        defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
        smaller = dict(defaults)
        shrink(smaller)
        named = {name: value for name, value in smaller.items() if value is not defaults[name]}
    made = target.made(**named)
    notes.add(target.name, "()", "default")
    return made


def required_parameters(target: ModuleClass) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(target.made.__init__).parameters.values())[1:]
    return [
        each
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]


def by_name(user: UserModule, target: ModuleClass, required: list[inspect.Parameter], table: Table) -> Recipe:
    def make(notes: Notes, shrunk: bool) -> nn.Module:
        arguments: list[object] = []
        named: dict[str, object] = {}
        for parameter in required:
            value = guessed(user, target, parameter, table, notes, shrunk=shrunk)
            if parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                arguments.append(value)
        return target.made(*arguments, **named)

    return Recipe(f"name ({table.name})", make)


def guessed(
    user: UserModule, target: ModuleClass, parameter: inspect.Parameter, table: Table, notes: Notes, *, shrunk: bool
) -> object:
    annotation = resolved(parameter.annotation, user)
    if isinstance(annotation, type) and is_config_class(annotation):
        notes.add(parameter.name, f"{annotation.__name__}()", "config")
        return default_config(annotation, table, notes, shrunk=shrunk)
    of_file = user.namespace.get(parameter.name)
    if isinstance(of_file, (int, float)):
        # A constant of the file by the same name, as scripts have them.
        notes.add(parameter.name, of_file, "config")
        return of_file
    try:
        return named_value(parameter.name, table, notes)
    except NoValueError:
        pass
    if CONFIG_NAME.fullmatch(parameter.name):
        declared = getattr(target.made, "config_class", None)
        if isinstance(declared, type) and is_config_class(declared):
            notes.add(parameter.name, f"{declared.__name__}()", "config")
            return default_config(declared, table, notes, shrunk=shrunk)
        return config_for(user, target, parameter.name, table, notes, shrunk=shrunk)
    plain: dict[object, object] = {int: 8, float: 0.1, bool: False}
    if annotation in plain:
        notes.guesses += 1
        notes.add(parameter.name, plain[annotation], "type")
        return plain[annotation]
    raise NoValueError(parameter.name)


def config_for(user: UserModule, target: ModuleClass, name: str, table: Table, notes: Notes, *, shrunk: bool) -> object:
    classes = config_classes(user)
    if classes:
        best = nearest(classes, target.name)
        notes.add(name, f"{best.__name__}()", "config")
        return default_config(best, table, notes, shrunk=shrunk)
    for key, value in user.namespace.items():
        items = dictionary(value)
        if items and CONFIG_NAME.match(key) and not key.startswith("__"):
            notes.add(name, key, "config")
            made = dict(items)
            if shrunk:
                shrink(made)
            return made
    # The switch between presets and single values in the configs of minGPT and its kin.
    return StandIn(table, notes, {"model_type": None})


def resolved(annotation: object, user: UserModule) -> object:
    """The class that an annotation names, also from a text and out of an optional."""
    if isinstance(annotation, str):
        try:
            tree = ast.parse(annotation.strip("'\""), mode="eval").body
        except SyntaxError:
            return annotation
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        found = [user.namespace[name] for name in names if name in user.namespace]
        classes = [each for each in found if isinstance(each, type)]
        plain = {"int": int, "float": float, "bool": bool}.get(annotation)
        return plain or (classes[0] if len(classes) == 1 else annotation)
    return annotation


def is_config_class(annotation: type[object]) -> bool:
    return dataclasses.is_dataclass(annotation) or any(
        base.__name__ in ("PretrainedConfig", "PreTrainedConfig") for base in annotation.__mro__
    )
