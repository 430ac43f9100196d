"""LLM104, LLM108, LLM114, LLM116, LLM118: what a tokenizer gives no longer fits the model that gets it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from llm_lsp.knowledge import checkpoints
from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loads import Load, loads_of
from scripts.mutation.tokenizations import (
    PADS,
    SECOND_TEXT,
    assigned,
    batched,
    calls_of,
    given,
    is_decoder,
    is_single,
    loads_decoder,
    single_texts,
    tokenizes,
)

NO_ROWS, PADDED_RIGHT, PADDED_LABELS, TOO_LONG, IGNORED = "LLM104", "LLM108", "LLM114", "LLM116", "LLM118"

_LOSS = re.compile(r"\.loss\b|\bloss\b\"|Trainer\(")


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
        name = assigned(statement, load.call)
        if load.is_tokenizer and name and _is_full(load) and _has_partner(load, loads) and _feeds(program, name):
            added = program.followed(statement, f'{name}.add_tokens(["<extra>"])')
            yield from mutants_of(program, NO_ROWS, "add", [added], load.call, anywhere=True)


def mutants_padded_right(program: Program) -> Iterator[Mutant]:
    """Padding on the left becomes padding on the right; or a batch is continued that is padded there.

    Only where the program loads a decoder-only model: what is right for one is wrong for an encoder-decoder, and in a
    library the caller brings the model. And only where it pads: where nothing does, the side is of no account.
    """
    if ".generate(" not in program.text:
        return
    if loads_decoder(program) and PADS.search(program.text):
        for node in program.nodes:
            is_argument = (
                isinstance(node, ast.keyword) and node.arg == "padding_side" and _is_of_tokenizer(program, node)
            )
            is_set = isinstance(node, ast.Assign) and last_name(node.targets[0]) == "padding_side"
            if (is_argument or is_set) and isinstance(node, ast.keyword | ast.Assign) and _is_left(node.value):
                changes = [program.blanked(node.value, '"right"'), *_second_texts(program)]
                yield from mutants_of(program, PADDED_RIGHT, "side", changes, node.value, anywhere=True)
    if "padding_side" in program.text:
        return
    loads = list(loads_of(program))
    for load in loads:
        known = checkpoints.from_table(load.checkpoint)
        side = known.padding_side if known is not None else None
        goes_on = any(each.checkpoint == load.checkpoint and is_decoder(each.class_name) for each in loads)
        if not load.is_tokenizer or not goes_on or (known is not None and _is_encoder_decoder(known)):
            continue
        for call in single_texts(program, load):
            if not _is_continued(program, call):
                continue
            changes = batched(program, call)
            if side is None or side.value != "right":
                changes.append(program.with_argument(load.call, 'padding_side="right"'))
            yield from mutants_of(program, PADDED_RIGHT, "batch", changes, call, anywhere=True)


def mutants_with_padded_labels(program: Program) -> Iterator[Mutant]:
    """What masks the labels of padding goes; or the texts that labels are made of become a padded batch.

    Only where the model computes its loss with them: where log-probabilities are read, what counts of them is masked
    later.
    """
    for node in program.nodes:
        if isinstance(node, ast.Assign) and _is_masking(node) and _has_loss(program, node):
            yield from mutants_of(program, PADDED_LABELS, "mask", [program.blanked(node, "pass")], node, anywhere=True)
        elif isinstance(node, ast.Call) and last_name(node.func) == "masked_fill" and _has_loss(program, node):
            kept = program.source(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            change = program.blanked(node, kept)
            is_mask = "-100" in program.source(node)
            yield from mutants_of(program, PADDED_LABELS, "fill", [change] if is_mask else [], node, anywhere=True)
        elif isinstance(node, ast.IfExp | ast.Call):
            chosen = _chosen_over_mask(node)
            if chosen is not None and _has_loss(program, node):
                change = program.blanked(node, program.source(chosen))
                yield from mutants_of(program, PADDED_LABELS, "choice", [change], node, anywhere=True)
    for scope in {program.function_of(node) or program.tree for node in program.nodes if _is_labelled(node)}:
        yield from _padded_in(program, scope)


def _padded_in(program: Program, scope: ast.AST) -> Iterator[Mutant]:
    """Every tokenization of one text becomes one of two; or one of several that are cut is padded to the limit."""
    if "-100" in ast.unparse(scope):
        return
    calls = [node for node in ast.walk(scope) if isinstance(node, ast.Call) and tokenizes(node)]
    labels = [call for call in calls if _become_labels(program, call, scope)]
    single = [call for call in calls if is_single(call)]
    if labels and labels[0] in single:
        changes = [change for call in single for change in batched(program, call)]
        yield from mutants_of(program, PADDED_LABELS, "batch", changes, labels[0], anywhere=True)
    cut = [call for call in labels if _cuts(call)]
    if cut:
        changes = [program.with_argument(call, 'padding="max_length"') for call in cut]
        yield from mutants_of(program, PADDED_LABELS, "limit", changes, cut[0], anywhere=True)


def mutants_that_decode_ignored(program: Program) -> Iterator[Mutant]:
    """What puts the pad token in the place of -100 before labels are decoded goes."""
    for node in program.nodes if "decode(" in program.text else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Call) and last_name(node.func) == "where" and len(node.args) == 3:
            if ast.unparse(node.args[0]).endswith("!= -100") and "pad" in ast.unparse(node.args[2]):
                change = program.blanked(node, program.source(node.args[1]))
                yield from mutants_of(program, IGNORED, "where", [change], node, anywhere=True)
        elif isinstance(node, ast.Assign) and isinstance(target, ast.Subscript):
            if ast.unparse(target.slice).endswith("== -100") and "pad" in ast.unparse(node.value):
                yield from mutants_of(program, IGNORED, "mask", [program.blanked(node, "pass")], node, anywhere=True)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.slice).endswith("!= -100"):
            call = program.parents[node]
            if not isinstance(call, ast.Call) or last_name(call.func) not in {"decode", "batch_decode"}:
                continue
            change = program.blanked(node, program.source(node.value))
            yield from mutants_of(program, IGNORED, "rows", [change], node, anywhere=True)


def mutants_too_long(program: Program) -> Iterator[Mutant]:
    """Texts are cut at twice what the model takes."""
    loads = list(loads_of(program))
    for load in loads:
        known = checkpoints.from_table(load.checkpoint)
        positions = known.max_positions if known is not None else None
        if not load.is_tokenizer or positions is None or not positions.confirmed or not _has_partner(load, loads):
            continue
        limit = str(2 * positions.value)
        for call in calls_of(program, load):
            written = next((keyword for keyword in call.keywords if keyword.arg == "max_length"), None)
            # Where nothing is cut and nothing padded the length is of no account.
            is_used = any(keyword.arg in {"truncation", "padding"} for keyword in call.keywords)
            if written is not None and isinstance(written.value, ast.Constant) and is_used:
                change = program.blanked(written.value, limit)
            elif written is None and not is_used:
                change = program.with_argument(call, f'truncation=True, padding="max_length", max_length={limit}')
            else:
                continue
            yield from mutants_of(program, TOO_LONG, "limit", [change], call, anywhere=True)


# ---------------------------------------------------------------- what programs do with a tokenizer


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


def _second_texts(program: Program) -> Iterator[Replacement]:
    """Batches of one text that is written there get a second one."""
    for node in program.nodes:
        texts = node.args[0] if isinstance(node, ast.Call) and tokenizes(node) and node.args else None
        if isinstance(texts, ast.List) and len(texts.elts) == 1 and isinstance(texts.elts[0], ast.Constant):
            yield program.blanked(texts.elts[0], f"{program.source(texts.elts[0])}, {SECOND_TEXT}")


def _is_continued(program: Program, call: ast.Call) -> bool:
    """Whether a model generates from what the tokenization gives."""
    statement = program.statement_of(call)
    name = dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    scope = program.function_of(call) or program.tree
    generations = [
        each for each in ast.walk(scope) if isinstance(each, ast.Call) and last_name(each.func) == "generate"
    ]
    return bool(name) and any(
        dotted(each) == name for node in generations for argument in given(node) for each in ast.walk(argument)
    )


def _is_encoder_decoder(known: checkpoints.Checkpoint) -> bool:
    return known.is_encoder_decoder is not None and known.is_encoder_decoder.value


def _is_left(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value == "left"


def _is_of_tokenizer(program: Program, keyword: ast.keyword) -> bool:
    """Whether the argument is a tokenizer's: other functions pad, too."""
    call = program.parents[keyword]
    return isinstance(call, ast.Call) and bool(re.search(r"[Tt]oken|process", ast.unparse(call.func)))


# ---------------------------------------------------------------- what programs do with labels


def _is_labelled(node: ast.AST) -> bool:
    """Whether ids become labels: `labels=ids`, `batch["labels"] = ids`, `text_target=text`."""
    if isinstance(node, ast.keyword):
        return node.arg in {"labels", "text_target"}
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    return isinstance(target, ast.Subscript) and ast.unparse(target.slice) == "'labels'"


def _become_labels(program: Program, call: ast.Call, scope: ast.AST) -> bool:
    """Whether what a tokenization gives is passed, or stored, as labels: itself, or by a name or two."""
    if any(keyword.arg == "text_target" for keyword in call.keywords) and "Trainer(" in program.text:
        return True
    reached: list[ast.AST] = [call]
    names: set[str] = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and _holds(node.value, reached, names):
            names |= {dotted(target) for target in node.targets if isinstance(target, ast.Name)}
    labels = [
        node.value for node in ast.walk(scope) if _is_labelled(node) and isinstance(node, ast.keyword | ast.Assign)
    ]
    return any(_holds(value, reached, names) for value in labels) and _has_loss(program, call)


def _holds(value: ast.expr, reached: list[ast.AST], names: set[str]) -> bool:
    """Whether an expression is the ids of what is reached: `tokenizer(text).input_ids`, `encoded["input_ids"].clone()`."""
    while isinstance(value, ast.Attribute | ast.Subscript | ast.Call) and value not in reached:
        value = value.func if isinstance(value, ast.Call) else value.value
    return value in reached or dotted(value) in names


def _cuts(call: ast.Call) -> bool:
    given = {keyword.arg for keyword in call.keywords}
    return "max_length" in given and "padding" not in given and None not in given


def _has_loss(program: Program, node: ast.AST) -> bool:
    """Whether the function around, or one of the program where labels are stored for others, reads the model's loss."""
    function = program.function_of(node)
    passed = [
        each for each in ast.walk(function or program.tree) if isinstance(each, ast.keyword) and each.arg == "labels"
    ]
    return _LOSS.search(ast.unparse(function) if function is not None and passed else program.text) is not None


def _chosen_over_mask(node: ast.IfExp | ast.Call) -> ast.expr | None:
    """The ids in `id if id != pad else -100` and in `torch.where(mask == 1, ids, -100)`."""
    if isinstance(node, ast.IfExp):
        parts = [node.test, node.body, node.orelse]
    else:
        parts = node.args if last_name(node.func) == "where" else []
    if len(parts) != 3 or not re.search(r"pad|mask\b|kept", ast.unparse(parts[0])):
        return None
    kept = [part for part in parts[1:] if ast.unparse(part) != "-100"]
    return kept[0] if len(kept) == 1 else None


def _is_masking(node: ast.Assign) -> bool:
    target = node.targets[0]
    return (
        isinstance(target, ast.Subscript)
        and ast.unparse(node.value) == "-100"
        and "label" in ast.unparse(target.value)
        and "pad" in ast.unparse(target.slice)
    )
