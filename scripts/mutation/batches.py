"""LLM404, LLM415, LLM503, LLM505, LLM602: what makes one of several batches, workers or processes is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, last_name, mutants_of

UNDIVIDED, PAST_ACCELERATOR, SHARED = "LLM404", "LLM415", "LLM503"
DUPLICATED, ON_ALL_RANKS = "LLM505", "LLM602"

_SAVES = ("torch.save(", "save_pretrained(")
_FIRST_RANK = re.compile(r"rank\w*(\(\))? == 0$")
_OTHER_RANK = re.compile(r"rank\w*(\(\))? != 0$")
_COUNT = re.compile(r"accum|micro", re.IGNORECASE)
_ACCELERATED = re.compile(r"\baccelerator\.|\bclass Accelerator\b")
_OF_ITS_OWN = re.compile(r"rand|queue|\.get\(", re.IGNORECASE)
"""Words of a dataset that gives each process other rows."""


def mutants_undivided(program: Program) -> Iterator[Mutant]:
    """`loss / accumulation_steps` is `loss`; not beside accelerate, which divides by what whoever launches it says."""
    if ".backward(" not in program.text or "Trainer(" in program.text or _ACCELERATED.search(program.text):
        return
    for node in program.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _COUNT.search(ast.unparse(node.right)):
            if "loss" in ast.unparse(program.statement_of(node)):
                change = [Replacement(program.span(node.left)[1], program.span(node)[1], "")]
                yield from mutants_of(program, UNDIVIDED, "division", change, node)
        elif (
            isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div) and _COUNT.search(ast.unparse(node.value))
        ):
            yield from mutants_of(program, UNDIVIDED, "division", [program.blanked(node, "pass")], node)


def mutants_past_the_accelerator(program: Program) -> Iterator[Mutant]:
    """`accelerator.backward(loss)` is `loss.backward()`, where the program makes and uses the accelerator."""
    if "Accelerator(" not in program.text or ".prepare(" not in program.text:
        return
    for node in program.nodes:
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith("accelerator.backward")
            and len(node.args) == 1
        ):
            loss = node.args[0]
            if isinstance(loss, ast.Name) and not node.keywords:
                change = [program.blanked(node, f"{loss.id}.backward()")]
                yield from mutants_of(program, PAST_ACCELERATOR, "backward", change, node)


def mutants_with_a_shared_generator(program: Program) -> Iterator[Mutant]:
    """The start of the workers goes, where a dataset has a generator of its own."""
    if not any(word in program.text for word in ("default_rng", "RandomState", "random.Random")):
        return
    for call in _loaders(program):
        for keyword in call.keywords:
            if keyword.arg == "worker_init_fn":
                change = [program.blanked(keyword.value, "None")]
                yield from mutants_of(program, SHARED, "start", change, call)


def mutants_with_more_workers(program: Program) -> Iterator[Mutant]:
    """An iterable dataset that knows nothing of workers gets four."""
    if "IterableDataset)" not in program.text or "worker_info" in program.text:
        return
    for call in _loaders(program):
        given = [keyword.value for keyword in call.keywords if keyword.arg == "num_workers"]
        if not _runs_through_rows(program, call):
            continue
        if not given and not any(keyword.arg is None for keyword in call.keywords):
            change = [program.with_argument(call, "num_workers=4")]
            yield from mutants_of(program, DUPLICATED, "workers", change, call)
        elif given and ast.unparse(given[0]) == "0":
            yield from mutants_of(program, DUPLICATED, "workers", [program.blanked(given[0], "4")], call)


def _runs_through_rows(program: Program, loader: ast.Call) -> bool:
    """Whether the dataset is certainly an iterable one of the file, whose rows are there: not drawn, nor taken from a queue."""
    given = loader.args[0] if loader.args else next((k.value for k in loader.keywords if k.arg == "dataset"), None)
    if isinstance(given, ast.Name):
        scope = program.function_of(loader) or program.tree
        stored = [node for node in ast.walk(scope) if isinstance(node, ast.Assign)]
        made = [node.value for node in stored if ast.unparse(node.targets[0]) == given.id]
        given = made[0] if len(made) == 1 else None
    name = last_name(given.func) if isinstance(given, ast.Call) else ""
    classes = (node for node in program.nodes if isinstance(node, ast.ClassDef) and node.name == name)
    return any(
        any(last_name(base) == "IterableDataset" for base in cls.bases) and not _OF_ITS_OWN.search(ast.unparse(cls))
        for cls in classes
    )


def mutants_that_save_on_all_ranks(program: Program) -> Iterator[Mutant]:
    """`if rank == 0:` over a save goes, as does `if rank != 0: return` before it, by whatever name the test goes."""
    if not any(word in program.text for word in _SAVES):
        return
    flags = {
        ast.unparse(node.targets[0]) for node in program.nodes if isinstance(node, ast.Assign) and _is_first(node.value)
    }
    for node in program.nodes:
        if not isinstance(node, ast.If) or node.orelse:
            continue
        asked, text = node.test, ast.unparse(node)
        if (_is_first(asked) or ast.unparse(asked) in flags) and any(word in text for word in _SAVES):
            yield from mutants_of(program, ON_ALL_RANKS, "guard", program.dedented(node), node, anywhere=True)
        elif isinstance(asked, ast.BoolOp) and isinstance(asked.op, ast.And) and any(word in text for word in _SAVES):
            for part in asked.values:
                if _is_first(part) or ast.unparse(part) in flags:
                    change = [program.blanked(part, "True")]
                    yield from mutants_of(program, ON_ALL_RANKS, "part", change, node, anywhere=True)
        elif isinstance(node.body[0], ast.Return) and _saves_later(program, node):
            is_other = isinstance(asked, ast.UnaryOp) and ast.unparse(asked.operand) in flags
            if is_other or _OTHER_RANK.search(ast.unparse(asked)):
                change = [program.blanked(node, "pass")]
                yield from mutants_of(program, ON_ALL_RANKS, "return", change, node, anywhere=True)


def _is_first(test: ast.expr) -> bool:
    return _FIRST_RANK.search(ast.unparse(test)) is not None


def _saves_later(program: Program, node: ast.If) -> bool:
    function = program.function_of(node)
    return function is not None and any(word in ast.unparse(function) for word in _SAVES)


def _loaders(program: Program) -> list[ast.Call]:
    return [node for node in program.nodes if isinstance(node, ast.Call) and last_name(node.func) == "DataLoader"]
