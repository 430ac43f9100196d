"""LLM211: nobody switches a model to evaluation mode before it is asked for results."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from llm_lsp.knowledge import checkpoints, library
from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loads import Load, loads_of
from scripts.mutation.tokenizations import assigned

CODE = "LLM211"

_DIFFERS = re.compile(r"nn\.\w*(?:Drop|BatchNorm|Transformer)|from transformers|import transformers")
_EVALUATES = re.compile(r"eval|valid|\bval|test|predict|infer|accuracy|\bdev", re.IGNORECASE)
_MOVES = frozenset({"to", "cuda", "cpu", "half", "float"})
_RUN = r"(?<![\w.]){name}\("


def mutants(program: Program) -> Iterator[Mutant]:
    """`eval()` goes; or what is loaded in evaluation mode is made in training mode, and given saved weights."""
    if "eval()" in program.text and _DIFFERS.search(program.text) and not _drops_nothing(program):
        yield from _without_evaluation_mode(program)
    imported = next((node for node in program.tree.body if ast.unparse(node) == "import torch"), None)
    if imported is not None and "eval()" not in program.text and ".train(" not in program.text:
        for load in loads_of(program):
            yield from _made_from_config(program, load, imported)


def _without_evaluation_mode(program: Program) -> Iterator[Mutant]:
    """All `eval()` of a model go, where it is given weights or trained before, and nothing else switches it there."""
    calls = [
        node
        for node in program.nodes
        if isinstance(node, ast.Call) and last_name(node.func) == "eval" and not node.args
    ]
    owners = {_owner(program, call) for call in calls}
    for owner in sorted(owners - {""}):
        if not _is_in_training_mode(program, owner):
            continue
        own = [call for call in calls if _owner(program, call) == owner]
        changes = [_without(program, call) for call in own]
        yield from mutants_of(program, CODE, "eval", changes, own[0], anywhere=True)


def _made_from_config(program: Program, load: Load, imported: ast.stmt) -> Iterator[Mutant]:
    """`Model.from_pretrained(name)`, which evaluates, is `Model.from_config(...)` with weights from a file, which trains."""
    known = checkpoints.from_table(load.checkpoint)
    model_type = known.model_type.value if known is not None and known.model_type is not None else ""
    statement = program.statement_of(load.call)
    name = assigned(statement, load.call)
    is_plain = len(load.call.args) == 1 and not load.call.keywords and load.class_name.startswith("Auto")
    if load.is_tokenizer or not is_plain or not name or model_type not in library.TYPES_WITH_DROPOUT:
        return
    if ".backward(" in program.text or not re.search(_RUN.format(name=name), program.text):
        return
    owner = program.source(load.call.func).removesuffix("from_pretrained")
    config = f"transformers.AutoConfig.from_pretrained({program.source(load.argument)})"
    made = program.blanked(load.call, f"{owner}from_config({config})")
    weights = program.followed(statement, f'{name}.load_state_dict(torch.load("weights.pt", weights_only=True))')
    yield from mutants_of(
        program,
        CODE,
        "config",
        [program.followed(imported, "import transformers"), made, weights],
        load.call,
        anywhere=True,
    )


def _drops_nothing(program: Program) -> bool:
    """Whether the program loads models alone that drop nothing unless they are told to."""
    known = [checkpoints.from_table(load.checkpoint) for load in loads_of(program) if not load.is_tokenizer]
    types = {one.model_type.value if one is not None and one.model_type is not None else "" for one in known}
    return bool(types) and "" not in types and library.TYPES_WITH_DROPOUT.isdisjoint(types)


def _owner(program: Program, call: ast.Call) -> str:
    """What is switched, moved or not, as it is written; or what the result of the switch is assigned to."""
    switched = call.func.value if isinstance(call.func, ast.Attribute) else call
    while isinstance(switched, ast.Call) and isinstance(switched.func, ast.Attribute) and switched.func.attr in _MOVES:
        switched = switched.func.value
    statement = program.statement_of(call)
    if not dotted(switched) and isinstance(statement, ast.Assign) and statement.value is call:
        return dotted(statement.targets[0])
    return dotted(switched)


def _is_in_training_mode(program: Program, owner: str) -> bool:
    """Whether the model would be in training mode: it is trained, or made by the program and given weights."""
    is_trained = ".backward(" in program.text and f"{owner}.train()" in program.text
    load = re.search(rf"(?<![\w.]){re.escape(owner)} = .*from_pretrained\(", program.text)
    is_given_weights = f"{owner}.load_state_dict(" in program.text and load is None and ".backward(" not in program.text
    return (is_trained and _EVALUATES.search(program.text) is not None) or is_given_weights


def _without(program: Program, call: ast.Call) -> Replacement:
    statement = program.statement_of(call)
    switched = call.func.value if isinstance(call.func, ast.Attribute) else call
    if isinstance(statement, ast.Expr) and statement.value is call and dotted(switched):
        return program.blanked(statement, "pass")
    return Replacement(program.span(switched)[1], program.span(call)[1], "")
