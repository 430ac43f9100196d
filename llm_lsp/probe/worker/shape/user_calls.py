"""What the user wrote about how to call a class: a comment, `example_inputs`, a call in the file."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from .classes import ModuleClass
from .importing import UserModule

COMMENT = re.compile(r"#\s*probe:\s*(?P<call>.+)")


class UserCall(NamedTuple):
    """`GPT(config)(idx=int[2,16])`, as syntax."""

    name: str
    constructor: ast.Call | None
    forward: ast.Call | None
    line: int | None


class CallSite(NamedTuple):
    """Where the file makes the class, and calls what it made."""

    constructor: ast.Call | None
    forward: ast.Call | None
    local: dict[str, ast.expr]
    """What the names of that place were last given, where it is told by one assignment."""
    in_function: bool


class BadCallError(Exception):
    """What the user wrote is no such call."""


def parse_user_call(text: str, line: int | None = None) -> UserCall:
    """Reads `Class(...)`, or `Class(...)(...)` with the arguments of `forward` in the second pair of brackets.

    Raises:
        BadCallError: It is neither.
    """
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise BadCallError(f"`{text.strip()}` is no call; write `Class(arguments)(name=int[2,16])`") from error
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return UserCall(node.func.id, node, None, line)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Call) and isinstance(node.func.func, ast.Name):
        return UserCall(node.func.func.id, node.func, node, line)
    raise BadCallError(f"`{text.strip()}` is no call of a class; write `Class(arguments)(name=int[2,16])`")


def probe_comments(user: UserModule) -> dict[str, UserCall | BadCallError]:
    """The `# probe:` comments of the file, by the name that each begins with, and what is wrong with one that is no call."""
    found: dict[str, UserCall | BadCallError] = {}
    if "probe:" not in user.text:
        return found
    for token in tokenize.generate_tokens(io.StringIO(user.text).readline):
        match = COMMENT.match(token.string) if token.type == tokenize.COMMENT else None
        if match is not None:
            try:
                call = parse_user_call(match["call"], token.start[0])
            except BadCallError as error:
                found[re.split(r"\W", match["call"], maxsplit=1)[0]] = BadCallError(f"{error} in line {token.start[0]}")
            else:
                found[call.name] = call
    return found


def call_sites(user: UserModule, target: ModuleClass) -> Iterator[CallSite]:
    """The calls of the class that stand in functions or at the top level; those inside other modules come from a parent."""
    yield from sites_in(user.tree.body, target.name, {}, in_function=False)


def sites_in(body: list[ast.stmt], name: str, outer: dict[str, ast.expr], *, in_function: bool) -> Iterator[CallSite]:
    local = dict(outer)
    for index, statement in enumerate(body):
        if isinstance(statement, ast.ClassDef):
            continue
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            # Only what the function itself assigns; names of the module are in its namespace.
            yield from sites_in(statement.body, name, parameters_of(statement), in_function=True)
            continue
        inner = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
        if any(inner):
            for each in inner:
                yield from sites_in(each, name, local, in_function=in_function)
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                after = body[index:]
                known = with_assignments(local, after)
                yield CallSite(node, forward_after(after, node, statement), known, in_function)
                break
        remember(statement, local)


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """The parameters that have defaults; the others hide names of the module and have no value."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    found: dict[str, ast.expr] = {each.arg: ast.Name(f"<{each.arg}>", ast.Load()) for each in positional}
    for parameter, default in zip(positional[::-1], arguments.defaults[::-1], strict=False):
        found[parameter.arg] = default
    for parameter, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found[parameter.arg] = keyword_default or ast.Name(f"<{parameter.arg}>", ast.Load())
    return found


def remember(statement: ast.stmt, local: dict[str, ast.expr]) -> None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            local[target.id] = statement.value
        elif isinstance(target, (ast.Attribute, ast.Subscript)) and isinstance(target.value, ast.Name):
            forget(target.value.id, local)
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            for name, value in zip(target.elts, statement.value.elts, strict=False):
                if isinstance(name, ast.Name):
                    local[name.id] = value
    elif (
        isinstance(statement, ast.AnnAssign) and statement.value is not None and isinstance(statement.target, ast.Name)
    ):
        local[statement.target.id] = statement.value
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        forget(statement.target.id, local)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        method = statement.value.func
        if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name):
            forget(method.value.id, local)


def forget(name: str, local: dict[str, ast.expr]) -> None:
    """The object has changed since its assignment."""
    if name in local:
        local[name] = ast.Name(f"<{name}>", ast.Load())


def with_assignments(local: dict[str, ast.expr], body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Inputs are often made after the model; what was assigned before keeps its value."""
    later: dict[str, ast.expr] = {}
    for statement in body:
        remember(statement, later)
    return {**later, **local}


def forward_after(body: list[ast.stmt], call: ast.Call, statement: ast.stmt) -> ast.Call | None:
    """The call of what the class call was assigned to."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Name) or not holds(statement, call):
        return None
    for later in body[1:]:
        for node in ast.walk(later):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == target.id:
                return node
    return None


def holds(statement: ast.stmt, call: ast.Call) -> bool:
    """The assigned value is the call itself, or the call with a method on it (`GPT(cfg).to(device)`)."""
    value = getattr(statement, "value", None)
    while isinstance(value, ast.Call) and value is not call and isinstance(value.func, ast.Attribute):
        value = value.func.value
    return value is call
