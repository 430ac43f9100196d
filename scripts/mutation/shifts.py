"""LLM113: labels are moved by one position for a model that moves them itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.tokenizations import assigned, continues_prompts, loaded_models, loads_decoder, tokenizes

CODE = "LLM113"

_IDS = re.compile(r"input_ids|\bids\b|rows|tokens", re.IGNORECASE)
_SHIFTS_NOTHING = re.compile(
    r"(?:Big|P)?(?:Bart|BirdPegasus|LBart)|Blenderbot|Marian|MBart|Mvp|Pegasus|ProphetNet|TrOCR|XLM|XLNet"
)
_COPIES = frozenset({"clone", "copy", "list"})


def mutants(program: Program) -> Iterator[Mutant]:
    """The labels of a causal language model are the ids, moved by one; or the model is given such labels.

    Only where the program loads the model: in a library the caller brings it. Not of the classes that move no labels.
    """
    if not loads_decoder(program) or any(_SHIFTS_NOTHING.match(name) for _, name in loaded_models(program)):
        return
    for node in program.nodes:
        if isinstance(node, ast.Call) and continues_prompts(program, node.func):
            yield from _labelled(program, node)
        elif isinstance(node, ast.Dict):
            yield from _rows(program, node)
        elif (
            isinstance(node, ast.Assign) and _copies_ids(node) and re.search(r"labels=|[\"']labels[\"']", program.text)
        ):
            labels, ids = program.source(node.targets[0]), program.source(_copied(node.value))
            moved = program.followed(node, f"{labels}[:, :-1] = {ids}[:, 1:]")
            yield from mutants_of(program, CODE, "fill", [moved], node, anywhere=True)


def _labelled(program: Program, call: ast.Call) -> Iterator[Mutant]:
    """A forward: `labels=ids` is `labels=ids.roll(-1, 1)`, or both are cut; or one without labels is given some."""
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    if last_name(call.func) == "generate" or _is_no_run_on_ids(call, words):
        return
    labels, ids = words.get("labels"), words.get("input_ids") or (call.args[0] if call.args else None)
    if labels is not None and _IDS.search(ast.unparse(labels)):
        change = program.blanked(labels, f"{program.source(labels)}.roll(-1, 1)")
        yield from mutants_of(program, CODE, "roll", [change], call, anywhere=True)
        if ids is not None and ast.dump(ids) == ast.dump(labels) and len(call.args) + len(call.keywords) == 2:
            cut = [_sliced(program, ids, ":-1"), _sliced(program, labels, "1:")]
            yield from mutants_of(program, CODE, "cut", cut, call, anywhere=True)
    elif labels is None:
        encoding = _encoding(program, call, words)
        if encoding:
            change = program.with_argument(call, f'labels={encoding}["input_ids"].roll(-1, 1)')
            yield from mutants_of(program, CODE, "given", [change], call, anywhere=True)


def _rows(program: Program, row: ast.Dict) -> Iterator[Mutant]:
    """`{"input_ids": ids, "labels": list(ids)}` is `{"input_ids": ids[:-1], "labels": list(ids)[1:]}`."""
    held = {key.value: value for key, value in zip(row.keys, row.values, strict=True) if isinstance(key, ast.Constant)}
    ids, labels = held.get("input_ids"), held.get("labels")
    if ids is None or labels is None or "Trainer(" not in program.text or len(held) != 2:
        return
    copied = _copied(labels)
    if ast.dump(copied) == ast.dump(ids):
        changes = [_one_less(program, ids, ":-1"), _one_less(program, labels, "1:")]
        yield from mutants_of(program, CODE, "row", changes, row.values[0], anywhere=True)


def _copies_ids(node: ast.Assign) -> bool:
    """`labels = ids.clone()`."""
    target, value = node.targets[0], node.value
    is_copy = isinstance(value, ast.Call) and last_name(value.func) in {"clone", "copy"} and not value.args
    return is_copy and "label" in ast.unparse(target) and _IDS.search(ast.unparse(value)) is not None


def _copied(value: ast.expr) -> ast.expr:
    """What is copied by `ids.clone()`, `list(ids)` or `ids[:]`; else the value itself."""
    if isinstance(value, ast.Call) and last_name(value.func) in _COPIES:
        return value.func.value if isinstance(value.func, ast.Attribute) else value.args[0]
    return value


def _encoding(program: Program, call: ast.Call, words: dict[str | None, ast.expr]) -> str:
    """The name of the encoding that a forward takes apart, `model(**inputs)`."""
    name = dotted(words[None]) if set(words) == {None} and not call.args else ""
    made = (node for node in program.nodes if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call))
    names = {assigned(node, node.value) for node in made if isinstance(node.value, ast.Call) and tokenizes(node.value)}
    return name if name in names else ""


def _is_no_run_on_ids(call: ast.Call, words: dict[str | None, ast.expr]) -> bool:
    is_load = isinstance(call.func, ast.Attribute) and call.func.attr == "from_pretrained"
    return is_load or "inputs_embeds" in words


def _sliced(program: Program, value: ast.expr, part: str) -> Replacement:
    return program.blanked(value, f"{program.source(value)}[:, {part}]")


def _one_less(program: Program, value: ast.expr, part: str) -> Replacement:
    return program.blanked(value, f"{program.source(value)}[{part}]")
