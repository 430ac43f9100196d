"""LLM101: the checkpoint of one tokenizer, or of one model, becomes another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache

from llm_lsp.knowledge import checkpoints
from scripts.mutation.edits import Mutant, Program, mutant
from scripts.mutation.loads import Load, loads_of

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


def mutants(program: Program) -> Iterator[Mutant]:
    """Every mutant of a program: of each pair that is loaded in one function, by ids that are known."""
    loads = list(loads_of(program))
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


def _partner(program: Program, load: Load, loads: Sequence[Load]) -> Load | None:
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


def _share_a_scope(program: Program, load: Load, other: Load) -> bool:
    if load.scope is other.scope or program.tree in {load.scope, other.scope}:
        return True
    one, two = (
        next((each for each in program.ancestors(each.call) if isinstance(each, ast.ClassDef)), None)
        for each in (load, other)
    )
    return one is two is not None


def _stranger(load: Load, partner: Load) -> str | None:
    candidates = _STRANGERS.get(load.prefix, ())
    return next((each for each in candidates if _same(each, partner.checkpoint) is False), None)


@cache
def _same(checkpoint: str, other: str) -> bool | None:
    one, two = checkpoints.from_table(checkpoint), checkpoints.from_table(other)
    if one is None or two is None:
        return None
    return checkpoints.compare_tokenizers(one, two).same
