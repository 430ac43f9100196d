"""LLM501: every seed of a program that draws at random is taken away."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, dotted, last_name, mutant

CODE = "LLM501"

_SEEDS = frozenset(
    {
        "set_seed",
        "seed_everything",
        "manual_seed",
        "manual_seed_all",
        "random.seed",
        "enable_full_determinism",
        "set_random_seed",
    }
)
_DRAW = re.compile(
    r"(?:np|numpy)\.random\.(?!seed|default_rng|Generator|RandomState)\w+|random\.(?!seed|Random|random$)\w+"
    r"|torch\.(?:rand|randn|randint|randperm|multinomial|bernoulli|normal|rand_like|randn_like)"
)
_TRAINS = re.compile(r"\.backward\(|\bbackward\(|multinomial\(|do_sample=True|\.fit\(")
_SEEDS_ITSELF = re.compile(r"\w*Trainer(?:\w*Arguments)?|\w+Config")


def mutants(program: Program) -> Iterator[Mutant]:
    """The mutant of a program that is started by itself, trains or samples at random, and seeds; else none."""
    tree = program.tree
    if not (_is_started(tree) and _is_random(tree) and _TRAINS.search(program.text)) or _has_trainer(tree):
        return
    seeds = [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and _is_seed(node.value)]
    others = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and _is_seed(node)]
    if not seeds or len(others) > len(seeds):
        return  # a seed that is part of a larger expression belongs to a generator of its own
    replacements = [program.blanked(statement, "pass") for statement in seeds]
    found = mutant(program, CODE, "seeds", replacements, (1, program.text.count("\n") + 1))
    if found is not None:
        yield found


def _is_started(tree: ast.Module) -> bool:
    """Whether the file is a program: it has a guard, or calls something at its top that is no definition."""
    for statement in tree.body:
        if isinstance(statement, ast.If) and "__name__" in ast.unparse(statement.test):
            return True
        if isinstance(statement, ast.For | ast.While | ast.With):
            return True
    return False


def _is_random(tree: ast.Module) -> bool:
    draws = any(isinstance(node, ast.Call) and _DRAW.fullmatch(dotted(node.func)) for node in ast.walk(tree))
    return draws or any(
        isinstance(node, ast.keyword)
        and node.arg == "shuffle"
        and isinstance(node.value, ast.Constant)
        and node.value.value is True
        for node in ast.walk(tree)
    )


def _has_trainer(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Call) and _SEEDS_ITSELF.fullmatch(last_name(node.func)) for node in ast.walk(tree))


def _is_seed(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    name = dotted(call.func)
    return last_name(call.func) in _SEEDS or any(name.endswith(seed) for seed in _SEEDS if "." in seed)
