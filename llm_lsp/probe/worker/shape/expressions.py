"""The value of an expression that stands in the file: literals, names, and constructors; nothing else is run."""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import operator
import types
from collections.abc import Callable, Mapping

import torch
from torch import nn

from .containers import dictionary, listed, mapped

SCALARS = {"int": torch.int64, "long": torch.int64, "float": torch.float32, "half": torch.float16, "bool": torch.bool}
"""`int[2,16]` in a comment of the user's."""
DTYPES = ("int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "uint8")

FACTORIES = {"randn", "rand", "randint", "zeros", "ones", "empty", "full", "arange", "tensor", "randperm", "device"}
"""Functions of torch that make a tensor of nothing, as a constructor would."""
PLAIN_CALLS: dict[str, Callable[..., object]] = {
    "dict": dict,
    "list": list,
    "tuple": tuple,
    "int": int,
    "float": float,
    "bool": bool,
    "str": str,
    "len": len,
    "range": range,
    "max": max,
    "min": min,
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.FloorDiv: "floordiv",
    ast.Div: "truediv",
    ast.Mod: "mod",
    ast.Pow: "pow",
}
LARGEST_POWER = 64


class NotPlainError(Exception):
    """An expression that is more than literals, names and constructors."""


class Evaluator:
    """Evaluates expressions of the file in a namespace.

    Every use makes its values anew: objects of the namespace are copied, so that one run can't change what the next sees.
    """

    def __init__(
        self,
        namespace: Mapping[str, object],
        local: Mapping[str, ast.expr],
        *,
        namespace_first: bool = False,
        fill: int = 97,
    ) -> None:
        self.namespace = namespace
        self.local = local
        self.namespace_first = namespace_first
        """At the top level the namespace has what names were given last, and what was changed since."""
        self.fill = fill
        """Integers of `int[...]` are below this."""
        self.pending: set[str] = set()

    def value(self, node: ast.expr) -> object:
        """The value.

        Raises:
            NotPlainError: Something in it would have to be run.
        """
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.name(node.id)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)](self.items(node.elts))
        if isinstance(node, ast.Dict):
            return self.mapping(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
            return self.unary(node)
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return self.binary(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Subscript):
            return self.subscript(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        raise NotPlainError(ast.unparse(node))

    def items(self, nodes: list[ast.expr]) -> list[object]:
        found: list[object] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = listed(self.value(node.value))
                if inner is None:
                    raise NotPlainError(ast.unparse(node))
                found.extend(inner)
            else:
                found.append(self.value(node))
        return found

    def mapping(self, node: ast.Dict) -> dict[object, object]:
        found: dict[object, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = mapped(self.value(value))
                if inner is None:
                    raise NotPlainError(ast.unparse(value))
                found.update(inner)
            else:
                found[self.value(key)] = self.value(value)
        return found

    def unary(self, node: ast.UnaryOp) -> object:
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not) and isinstance(value, (bool, int, str, type(None))):
            return not value
        if isinstance(value, (int, float)):
            return -value
        raise NotPlainError(ast.unparse(node))

    def binary(self, node: ast.BinOp) -> object:
        left, right = self.value(node.left), self.value(node.right)
        plain = (int, float, str, list, tuple)
        too_much = isinstance(node.op, ast.Pow) and not (isinstance(right, (int, float)) and right <= LARGEST_POWER)
        if not isinstance(left, plain) or not isinstance(right, plain) or too_much:
            raise NotPlainError(ast.unparse(node))
        operate: Callable[[object, object], object] = getattr(operator, OPERATORS[type(node.op)])
        try:
            return operate(left, right)  # pyright: ignore[reportUnknownArgumentType]
        except (TypeError, ValueError, ArithmeticError) as error:
            raise NotPlainError(ast.unparse(node)) from error

    def name(self, name: str) -> object:
        if self.namespace_first and name in self.namespace:
            with contextlib.suppress(NotPlainError):
                return anew(self.namespace[name])
        if name in self.local:
            if name in self.pending:
                raise NotPlainError(name)
            self.pending.add(name)
            try:
                return self.value(self.local[name])
            finally:
                self.pending.discard(name)
        if name in self.namespace:
            return anew(self.namespace[name])
        if name in PLAIN_CALLS:
            return PLAIN_CALLS[name]
        raise NotPlainError(name)

    def attribute(self, node: ast.Attribute) -> object:
        owner = self.value(node.value)
        plain = isinstance(owner, (types.ModuleType, types.SimpleNamespace, type)) or dataclasses.is_dataclass(owner)
        if plain or is_config(owner):
            try:
                return anew(getattr(owner, node.attr))
            except AttributeError as error:
                raise NotPlainError(ast.unparse(node)) from error
        raise NotPlainError(ast.unparse(node))

    def subscript(self, node: ast.Subscript) -> object:
        dtype = tensor_dtype(node.value)
        if dtype is not None and not (isinstance(node.value, ast.Name) and node.value.id in self.namespace):
            sizes = self.value(node.slice)
            return self.tensor(dtype, tuple(listed(sizes) or (sizes,)))
        owner, key = self.value(node.value), self.value(node.slice)
        items, elements = dictionary(owner), listed(owner)
        try:
            if items is not None:
                return items[key]
            if elements is not None and isinstance(key, int):
                return elements[key]
        except (KeyError, IndexError, TypeError) as error:
            raise NotPlainError(ast.unparse(node)) from error
        raise NotPlainError(ast.unparse(node))

    def tensor(self, dtype: torch.dtype, sizes: tuple[object, ...]) -> torch.Tensor:
        whole = [size for size in sizes if isinstance(size, int)]
        if len(whole) != len(sizes):
            raise NotPlainError("a size that is no number")
        if dtype.is_floating_point:
            return torch.randn(whole, dtype=dtype)
        return torch.randint(0, 2 if dtype is torch.bool else self.fill, whole).to(dtype)

    def call(self, node: ast.Call) -> object:
        called = self.value(node.func)
        if not is_constructor(called):
            raise NotPlainError(ast.unparse(node))
        arguments = self.items(node.args)
        named: dict[str, object] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
            elif (items := mapped(value)) is not None:
                named.update({str(key): each for key, each in items.items()})
            else:
                raise NotPlainError(ast.unparse(node))
        return called(*arguments, **named) if callable(called) else called


def is_constructor(called: object) -> bool:
    """A class, or a function of torch that makes a tensor."""
    if called in PLAIN_CALLS.values():
        return True
    if isinstance(called, type):
        return called.__module__ not in ("os", "subprocess", "socket", "pathlib", "io", "builtins")
    return (
        getattr(called, "__name__", "") in FACTORIES
        and getattr(torch, str(getattr(called, "__name__", "")), None) is called
    )


def tensor_dtype(node: ast.expr) -> torch.dtype | None:
    """The dtype that `int`, `float32` or `torch.long` names."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if name in SCALARS:
        return SCALARS[name]
    found = getattr(torch, name, None) if name in DTYPES else None
    return found if isinstance(found, torch.dtype) else None


def is_config(value: object) -> bool:
    return any(base.__name__ in ("PretrainedConfig", "PreTrainedConfig") for base in type(value).__mro__)


def anew(value: object) -> object:
    """A copy of an object that code might change; what carries no state of ours stays as it is."""
    if isinstance(value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, str, int, float)):
        return value
    if isinstance(value, (torch.Tensor, nn.Module)):
        # Made while the file was imported, with real storage: of no use to abstract execution.
        raise NotPlainError("a tensor of the module")
    try:
        return copy.deepcopy(value)
    except Exception as error:  # whatever the user's `__deepcopy__` raises
        raise NotPlainError("an object that can't be copied") from error
