"""LLM406, LLM408: how a model, and what trains it, are put together is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.mutation.edits import Function, Mutant, Program, Replacement, dotted, last_name, mutants_of

EARLY, UNREGISTERED = "LLM406", "LLM408"

_STARTS_ANEW = ("Trainer(", "add_param_group", "copy", "prepare", ".fit(")


def mutants_with_an_early_optimizer(program: Program) -> Iterator[Mutant]:
    """A model gets one more layer after its optimizer was made."""
    if any(word in program.text for word in _STARTS_ANEW) or "import torch\n" not in program.text:
        return
    made = [each for each in program.nodes if isinstance(each, ast.Assign) and _makes_optimizer(each.value)]
    for statement in made if len(made) == 1 else ():
        asked = next(node for node in ast.walk(statement.value) if _asks_for_parameters(node))
        model = dotted(asked.func).rpartition(".")[0] if isinstance(asked, ast.Call) else ""
        if model and statement.end_lineno is not None:
            change = [program.followed(statement, f"{model}.added = torch.nn.Linear(2, 2)")]
            yield from mutants_of(program, EARLY, "layer", change, statement)


def _makes_optimizer(value: ast.expr) -> bool:
    is_one = isinstance(value, ast.Call) and dotted(value.func).startswith(("torch.optim.", "optim."))
    return is_one and any(_asks_for_parameters(node) for node in ast.walk(value))


def _asks_for_parameters(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "parameters"


def mutants_with_plain_containers(program: Program) -> Iterator[Mutant]:
    """`nn.ModuleList([...])` is `[...]`, in a class that is a module as its file says, and works with it."""
    for statement in program.nodes:
        call = statement.value if isinstance(statement, ast.Assign) else None
        if not isinstance(call, ast.Call) or last_name(call.func) not in {"ModuleList", "ModuleDict"}:
            continue
        name = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
        if not isinstance(statement, ast.Assign) or not name.startswith("self."):
            continue
        if not _works_with_layers(program, statement, name):
            continue
        empty = "{}" if last_name(call.func) == "ModuleDict" else "[]"
        plain = program.source(call.args[0]) if call.args else empty
        if call.args and not isinstance(call.args[0], ast.List | ast.ListComp | ast.Dict | ast.DictComp):
            continue
        change = [Replacement(*program.span(call), plain)]
        yield from mutants_of(program, UNREGISTERED, "container", change, statement, anywhere=True)


def _works_with_layers(program: Program, statement: ast.stmt, attribute: str) -> bool:
    """Whether the class around is a module, and a method reads the attribute where it is not stored: without that, no fault.

    A class with a mixin of another file is left out: what that makes known, or moves and saves by itself, is said there.
    """
    cls = next((each for each in program.ancestors(statement) if isinstance(each, ast.ClassDef)), None)
    storing = program.function_of(statement)
    methods = [each for each in cls.body if isinstance(each, Function) and each is not storing] if cls else []
    read = {dotted(node) for method in methods for node in ast.walk(method) if isinstance(node, ast.Attribute)}
    return cls is not None and _is_module(program, cls) and attribute in read


def _is_module(program: Program, cls: ast.ClassDef) -> bool:
    own = {node.name: node for node in program.nodes if isinstance(node, ast.ClassDef) and node is not cls}
    bases = [last_name(base) for base in cls.bases]
    return bool(bases) and all(
        _is_module(program, own[base]) if base in own else base.endswith("Module") for base in bases
    )
