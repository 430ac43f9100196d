"""LLM104, LLM108, LLM114, LLM116: what a tokenizer gives no longer fits the model that gets it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from llm_lsp.knowledge import checkpoints
from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loads import Load, loads_of

NO_ROWS, PADDED_RIGHT, PADDED_LABELS, TOO_LONG = "LLM104", "LLM108", "LLM114", "LLM116"

_SECOND_TEXT = '"and a second text, which is longer"'
_IDS = re.compile(r"input_ids")


def mutants_without_rows(program: Program) -> Iterator[Mutant]:
    """`resize_token_embeddings` goes; or tokens are added that nobody makes rows for."""
    for node in program.nodes:
        called = last_name(node.value.func) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ""
        if isinstance(node, ast.Expr) and called == "resize_token_embeddings" and ".add_" in program.text:
            yield from mutants_of(program, NO_ROWS, "resize", [program.blanked(node, "pass")], node, anywhere=True)
    if "resize_token_embeddings" in program.text:
        return
    loads = list(loads_of(program))
    for load in loads:
        statement = program.statement_of(load.call)
        name = _assigned(statement, load.call)
        if load.is_tokenizer and name and _is_full(load) and _has_partner(load, loads) and _feeds(program, name):
            added = program.followed(statement, f'{name}.add_tokens(["<extra>"])')
            yield from mutants_of(program, NO_ROWS, "add", [added], load.call, anywhere=True)


def mutants_padded_right(program: Program) -> Iterator[Mutant]:
    """Padding on the left becomes padding on the right; or a batch is continued that is padded there."""
    if ".generate(" not in program.text:
        return
    for node in program.nodes:
        is_argument = isinstance(node, ast.keyword) and node.arg == "padding_side" and _is_of_tokenizer(program, node)
        is_set = isinstance(node, ast.Assign) and last_name(node.targets[0]) == "padding_side"
        if (is_argument or is_set) and isinstance(node, ast.keyword | ast.Assign) and _is_left(node.value):
            yield from _to_the_right(program, node.value)
    if "padding_side" in program.text:
        return
    loads = list(loads_of(program))
    for load in loads:
        known = checkpoints.from_table(load.checkpoint)
        side = known.padding_side if known is not None else None
        goes_on = any(
            each.checkpoint == load.checkpoint and re.search(r"CausalLM|LMHead", each.class_name) for each in loads
        )
        if load.is_tokenizer and goes_on and side is not None and side.value == "right":
            for call in _single_texts(program, load):
                yield from mutants_of(program, PADDED_RIGHT, "batch", _batched(program, call), call, anywhere=True)


def mutants_with_padded_labels(program: Program) -> Iterator[Mutant]:
    """What masks the labels of padding goes; or the texts that labels are made of become a padded batch."""
    for node in program.nodes:
        if isinstance(node, ast.Assign) and _is_masking(node):
            yield from mutants_of(program, PADDED_LABELS, "mask", [program.blanked(node, "pass")], node, anywhere=True)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "masked_fill":
            kept = program.source(node.func.value)
            change = program.blanked(node, kept)
            is_mask = "-100" in program.source(node)
            yield from mutants_of(program, PADDED_LABELS, "fill", [change] if is_mask else [], node, anywhere=True)
    if "-100" in program.text or "padding" in program.text:
        return
    labelled = any(
        isinstance(node, ast.keyword) and node.arg == "labels" and _IDS.search(ast.unparse(node.value))
        for node in program.nodes
    )
    for load in loads_of(program) if labelled else ():
        for call in _single_texts(program, load) if load.is_tokenizer else ():
            yield from mutants_of(program, PADDED_LABELS, "batch", _batched(program, call), call, anywhere=True)


def mutants_too_long(program: Program) -> Iterator[Mutant]:
    """Texts are cut at twice what the model takes."""
    loads = list(loads_of(program))
    for load in loads:
        known = checkpoints.from_table(load.checkpoint)
        positions = known.max_positions if known is not None else None
        if not load.is_tokenizer or positions is None or not positions.confirmed or not _has_partner(load, loads):
            continue
        limit = str(2 * positions.value)
        for call in _calls_of(program, load):
            written = next((keyword for keyword in call.keywords if keyword.arg == "max_length"), None)
            if written is not None and isinstance(written.value, ast.Constant):
                change = program.blanked(written.value, limit)
            elif written is None and not any(keyword.arg in {"truncation", "padding"} for keyword in call.keywords):
                change = program.with_argument(call, f'truncation=True, padding="max_length", max_length={limit}')
            else:
                continue
            yield from mutants_of(program, TOO_LONG, "limit", [change], call, anywhere=True)


# ---------------------------------------------------------------- what programs do with a tokenizer


def _assigned(statement: ast.stmt, call: ast.Call) -> str:
    if isinstance(statement, ast.Assign) and statement.value is call and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def _is_full(load: Load) -> bool:
    """Whether the model has no row to spare."""
    known = checkpoints.from_table(load.checkpoint)
    if known is None or known.vocab_size is None or known.tokenizer_len is None:
        return False
    return known.vocab_size.confirmed and known.vocab_size.value == known.tokenizer_len.value


def _has_partner(load: Load, loads: list[Load]) -> bool:
    return any(
        each.checkpoint == load.checkpoint and each.scope is load.scope and not each.is_tokenizer for each in loads
    )


def _feeds(program: Program, tokenizer: str) -> bool:
    return bool(re.search(rf"\b{tokenizer}(?:\.encode|\.apply_chat_template)?\(", program.text))


def _calls_of(program: Program, load: Load) -> Iterator[ast.Call]:
    """The calls of the tokenizer that is loaded, by its name."""
    name = _assigned(program.statement_of(load.call), load.call)
    for node in program.nodes:
        if isinstance(node, ast.Call) and name and dotted(node.func) == name and node.args:
            yield node


def _single_texts(program: Program, load: Load) -> Iterator[ast.Call]:
    """Its calls with one text that is written there."""
    for call in _calls_of(program, load):
        is_text = isinstance(call.args[0], (ast.Constant, ast.Name, ast.JoinedStr)) and len(call.args) == 1
        if is_text and not any(keyword.arg in {"padding", None} for keyword in call.keywords):
            yield call


def _batched(program: Program, call: ast.Call) -> list[Replacement]:
    first = program.source(call.args[0])
    return [
        program.blanked(call.args[0], f"[{first}, {_SECOND_TEXT}]"),
        program.with_argument(call, "padding=True"),
    ]


def _is_left(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == "left"


def _is_of_tokenizer(program: Program, keyword: ast.keyword) -> bool:
    """Whether the argument is a tokenizer's: other functions pad, too."""
    call = program.parents[keyword]
    return isinstance(call, ast.Call) and bool(re.search(r"[Tt]oken|process", ast.unparse(call.func)))


def _to_the_right(program: Program, value: ast.expr) -> Iterator[Mutant]:
    yield from mutants_of(program, PADDED_RIGHT, "side", [program.blanked(value, '"right"')], value, anywhere=True)


def _is_masking(node: ast.Assign) -> bool:
    target = node.targets[0]
    return (
        isinstance(target, ast.Subscript)
        and ast.unparse(node.value) == "-100"
        and "label" in ast.unparse(target.value)
        and "pad" in ast.unparse(target.slice)
    )
