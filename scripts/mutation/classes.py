"""LLM208 and LLM210: a model is loaded by a class, or asked for something, that it is not made for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from llm_lsp.knowledge import checkpoints
from llm_lsp.knowledge.auto_classes import auto_classes
from scripts.mutation.edits import Mutant, Program, Replacement, dotted, mutants_of
from scripts.mutation.loads import Load, loads_of

NO_MAPS, WRONG_CLASS = "LLM208", "LLM210"

_OTHERS = ("AutoModelForSeq2SeqLM", "AutoModelForCausalLM", "AutoModelForSequenceClassification")


def mutants_without_maps(program: Program) -> Iterator[Mutant]:
    """`attn_implementation="eager"` goes; or a model that is run gets asked for its attention maps.

    Not of models that transformers runs with attention of their own, by what it says of itself (`_supports_sdpa`):
    they give their maps.
    """
    if "attentions" in program.text:
        for node in program.nodes:
            if not isinstance(node, ast.keyword) or node.arg != "attn_implementation":
                continue
            if ast.unparse(node.value) == "'eager'":
                change = program.blanked(node.value, '"sdpa"')
                yield from mutants_of(program, NO_MAPS, "eager", [change], node.value, anywhere=True)
        return
    loads = [load for load in loads_of(program) if not load.is_tokenizer]
    loaded = {(name, load.scope) for load in loads if (name := _assigned(program, load)) and _is_plain(load)}
    for node in program.nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else None
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or not isinstance(target, ast.Name):
            continue
        if (dotted(node.value.func), program.function_of(node) or program.tree) in loaded:
            asked = program.with_argument(node.value, "output_attentions=True")
            read = program.followed(node, f"print({target.id}.attentions)")
            yield from mutants_of(program, NO_MAPS, "ask", [asked, read], node, anywhere=True)


def mutants_of_class(program: Program) -> Iterator[Mutant]:
    """An auto class becomes one that has no model for the checkpoint."""
    loads = [load for load in loads_of(program) if load.class_name.startswith("AutoModelFor")]
    for load in loads:
        known = checkpoints.from_table(load.checkpoint)
        found = auto_classes(known.model_type.value) if known is not None and known.model_type is not None else None
        other = next((each for each in _OTHERS if found is not None and found.takes(each) is False), None)
        if other is None or sum(each.class_name == load.class_name for each in loads) > 1:
            continue
        changes = [
            Replacement(match.start(), match.end(), other)
            for match in re.finditer(rf"\b{load.class_name}\b", program.text)
        ]
        yield from mutants_of(program, WRONG_CLASS, "class", changes, load.call, anywhere=True)


def _assigned(program: Program, load: Load) -> str:
    statement = program.statement_of(load.call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is load.call else None
    return target.id if isinstance(target, ast.Name) else ""


def _is_plain(load: Load) -> bool:
    """Whether nothing chooses how attention is computed, and it is a model of text."""
    known = checkpoints.from_table(load.checkpoint)
    chosen = any(keyword.arg in {"attn_implementation", "config", None} for keyword in load.call.keywords)
    if known is None or known.model_type is None or chosen:
        return False
    found = auto_classes(known.model_type.value)
    return found is None or found.runs_sdpa is not False
