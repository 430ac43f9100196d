"""LLM101: the checkpoint of one tokenizer, or of one model, becomes another one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from llm_lsp.knowledge import checkpoints
from scripts.mutation.edits import Mutant, Program, dotted, mutant

CODE = "LLM101"

# What people really mix up; the first one that is of another family is taken.
_STRANGERS: dict[str, tuple[str, ...]] = {
    "Auto": ("bert-base-cased", "gpt2", "roberta-base", "t5-small"),
    "Bert": ("bert-base-cased", "bert-base-uncased"),
    "DistilBert": ("distilbert-base-cased", "distilbert-base-uncased"),
    "GPT2": ("gpt2", "facebook/opt-125m"),
    "Llama": ("meta-llama/Llama-2-7b-hf", "openlm-research/open_llama_3b"),
    "Roberta": ("roberta-base", "Salesforce/codet5-base"),
    "T5": ("t5-small", "google/t5-efficient-tiny"),
}
_CLASS = re.compile(r"(?P<prefix>[A-Z][A-Za-z0-9]*?)(?P<what>Tokenizer(?:Fast)?|(?:LMHead)?Model\w*|For[A-Z]\w*)")


class _Load(NamedTuple):
    call: ast.Call
    argument: ast.expr
    checkpoint: str
    prefix: str
    is_tokenizer: bool
    scope: ast.AST


def mutants(program: Program) -> Iterator[Mutant]:
    """Every mutant of a program: of each pair that is loaded in one function, by ids that are known."""
    loads = list(_loads(program))
    for load in loads:
        partner = _partner(program, load, loads)
        if partner is None:
            continue
        stranger = _stranger(load, partner)
        if stranger is None:
            continue
        found = mutant(
            program,
            CODE,
            "tokenizer" if load.is_tokenizer else "model",
            [program.blanked(load.argument, f'"{stranger}"')],
            program.rows(load.argument),
            [program.rows(load.call), program.rows(partner.call), program.scope_rows(load.call)],
        )
        if found is not None:
            yield found


def _loads(program: Program) -> Iterator[_Load]:
    constants = _constants(program)
    for node in program.nodes:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        match = _CLASS.fullmatch(dotted(node.func.value).rpartition(".")[2])
        argument = _id_argument(node)
        if node.func.attr != "from_pretrained" or match is None or argument is None:
            continue
        checkpoint = _value(argument, constants)
        if checkpoint is not None:
            scope = program.function_of(node) or program.tree
            is_tokenizer = match["what"].startswith("Tokenizer")
            yield _Load(node, argument, checkpoint, match["prefix"], is_tokenizer, scope)


def _id_argument(call: ast.Call) -> ast.expr | None:
    if call.args:
        return call.args[0]
    named = (keyword.value for keyword in call.keywords if keyword.arg == "pretrained_model_name_or_path")
    return next(named, None)


def _constants(program: Program) -> dict[str, str]:
    """The names that are bound once in the whole file, to a text."""
    values: dict[str, str] = {}
    bound: dict[str, int] = {}
    for node in program.nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound[node.id] = bound.get(node.id, 0) + 1
        elif isinstance(node, ast.arg):
            bound[node.arg] = bound.get(node.arg, 0) + 1
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            values.update({target.id: node.value.value for target in node.targets if isinstance(target, ast.Name)})
    return {name: value for name, value in values.items() if bound[name] == 1}


def _value(argument: ast.expr, constants: dict[str, str]) -> str | None:
    if isinstance(argument, ast.Constant):
        return argument.value if isinstance(argument.value, str) else None
    return constants.get(argument.id) if isinstance(argument, ast.Name) else None


def _partner(program: Program, load: _Load, loads: Sequence[_Load]) -> _Load | None:
    """The nearest load of the other kind that it is right with, in the same function before one in the same class.

    None where the sizes are made equal by hand: there another id is no fault that could be seen.
    """
    if "resize_token_embeddings" in ast.unparse(load.scope):
        return None
    others = [other for other in loads if other.is_tokenizer is not load.is_tokenizer]
    fitting = [
        other
        for other in others
        if _same(load.checkpoint, other.checkpoint) is True and _share_a_scope(program, load, other)
    ]
    return min(
        fitting,
        key=lambda other: (other.scope is not load.scope, abs(other.call.lineno - load.call.lineno)),
        default=None,
    )


def _share_a_scope(program: Program, load: _Load, other: _Load) -> bool:
    if load.scope is other.scope or program.tree in {load.scope, other.scope}:
        return True
    one, two = (
        next((each for each in program.ancestors(each.call) if isinstance(each, ast.ClassDef)), None)
        for each in (load, other)
    )
    return one is two is not None


def _stranger(load: _Load, partner: _Load) -> str | None:
    candidates = _STRANGERS.get(load.prefix, ())
    return next((each for each in candidates if _same(each, partner.checkpoint) is False), None)


@cache
def _same(checkpoint: str, other: str) -> bool | None:
    one, two = checkpoints.from_table(checkpoint), checkpoints.from_table(other)
    if one is None or two is None:
        return None
    return checkpoints.compare_tokenizers(one, two).same
