"""LLM212, LLM401, LLM402, LLM403, LLM407, LLM412, LLM413, LLM414, LLM416, LLM701: an argument or a call that says what is meant is lost."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loops import loops_of

_STEPS_ITSELF = ("ccelerat", "ightning", "abric", "deepspeed", "Trainer(")
DROPOUT, NORMALIZED, NOT_CLEARED, SCHEDULE = "LLM212", "LLM401", "LLM402", "LLM403"
REENTRANT = "LLM412"
DIVERGENCE, LOGITS, SIGNATURE, HOOK, LOAD = "LLM407", "LLM413", "LLM414", "LLM416", "LLM701"


def mutants_that_always_drop(program: Program) -> Iterator[Mutant]:
    """`training=self.training` goes; or what a module of layers gives is dropped by a function that isn't told."""
    yield from _dropped_at_the_end(program)
    for call in _calls(program, "dropout"):
        named = [keyword for keyword in call.keywords if keyword.arg == "training"]
        if named and ast.unparse(named[0].value) == "self.training" and _is_functional(call.func):
            start, end = program.offset(named[0].lineno, named[0].col_offset), program.span(named[0].value)[1]
            comma = program.text.rindex(",", 0, start)
            yield from mutants_of(program, DROPOUT, "training", [Replacement(comma, end, "")], call)


def _dropped_at_the_end(program: Program) -> Iterator[Mutant]:
    """`return self.head(x)` is `return torch.nn.functional.dropout(self.head(x), 0.1)`."""
    for module in program.nodes if "import torch\n" in program.text else ():
        if not isinstance(module, ast.ClassDef) or not any(dotted(base).endswith("nn.Module") for base in module.bases):
            continue
        for node in ast.walk(module):
            value = node.value if isinstance(node, ast.Return) else None
            function = program.function_of(node)
            if function is None or function.name != "forward" or not isinstance(value, ast.Call):
                continue
            if dotted(value.func).startswith("self.") and "training" not in ast.unparse(function):
                change = program.blanked(value, f"torch.nn.functional.dropout({program.source(value)}, 0.1)")
                yield from mutants_of(program, DROPOUT, "result", [change], value)


def mutants_normalized_twice(program: Program) -> Iterator[Mutant]:
    """What `cross_entropy` is given first goes through a softmax."""
    for call in _calls(program, "cross_entropy"):
        if call.args and _is_functional(call.func):
            start, end = program.span(call.args[0])
            given = f"({program.text[start:end]}).softmax(-1)"
            yield from mutants_of(program, NORMALIZED, "softmax", [Replacement(start, end, given)], call, anywhere=True)


def mutants_with_reentrant_checkpoints(program: Program) -> Iterator[Mutant]:
    """`use_reentrant=False` is True, in a function that embeds by what is frozen, or without gradients."""
    frozen = set(re.findall(r"([\w.]+)(?:\.requires_grad_\(False\)| = nn\.Embedding\.from_pretrained\()", program.text))
    for call in _calls(program, "checkpoint"):
        function = program.function_of(call)
        text = ast.unparse(function) if function is not None else program.text
        if "no_grad()" not in text and not any(f"{name}(" in text for name in frozen):
            continue
        for keyword in call.keywords:
            if keyword.arg == "use_reentrant" and ast.unparse(keyword.value) == "False":
                change = [program.blanked(keyword.value, "True")]
                yield from mutants_of(program, REENTRANT, "checkpoint", change, call, anywhere=True)


def mutants_that_keep_logits(program: Program) -> Iterator[Mutant]:
    """What is taken of the scores after every batch is taken of all of them, in the function for metrics."""
    metrics = {node.name: node for node in program.nodes if isinstance(node, ast.FunctionDef)}
    for call in _calls(program, "Trainer"):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        taken, measures = given.get("preprocess_logits_for_metrics"), given.get("compute_metrics")
        function = metrics.get(last_name(measures)) if measures is not None else None
        unpacked = function.body[0] if function is not None else None
        target = unpacked.targets[0] if isinstance(unpacked, ast.Assign) else None
        if taken is not None and isinstance(unpacked, ast.Assign) and isinstance(target, ast.Tuple):
            ids = ast.unparse(target.elts[0])
            end = program.span(unpacked)[1]
            changes = [program.blanked(taken, "None"), Replacement(end, end, f"; {ids} = {ids}.argmax(-1)")]
            yield from mutants_of(program, LOGITS, "argmax", changes, call, anywhere=True)


def mutants_not_cleared(program: Program) -> Iterator[Mutant]:
    """The one `zero_grad` of a file that trains goes."""
    found = _calls(program, "zero_grad")
    if len(found) == 1 and ".backward(" in program.text:
        statement = program.statement_of(found[0])
        if isinstance(statement, ast.Expr) and statement.value is found[0] and _is_repeated(program, statement):
            change = [program.blanked(statement, "pass")]
            yield from mutants_of(program, NOT_CLEARED, "zero_grad", change, statement, anywhere=True)


def mutants_with_an_early_schedule(program: Program) -> Iterator[Mutant]:
    """A schedule that is stepped right after its optimizer is stepped right before; or a loop without one gets such a one.

    Only where the program makes the schedule itself, and no library steps it in its own way.
    """
    if any(word in program.text for word in _STEPS_ITSELF):
        return
    is_made = re.search(r"lr_scheduler\.\w+\(|get_\w*schedule\w*\(|[A-Z]\w*LR\(", program.text) is not None
    for block in (node.body for node in program.nodes if is_made and isinstance(node, ast.For | ast.With | ast.If)):
        for step, schedule in pairwise(block):
            first, second = _stepped(step), _stepped(schedule)
            if "optim" in first and "sched" in second and _is_repeated(program, step):
                texts = [program.text[slice(*program.span(each))] for each in (step, schedule)]
                change = [Replacement(*program.span(step), texts[1]), Replacement(*program.span(schedule), texts[0])]
                yield from mutants_of(program, SCHEDULE, "order", change, step, anywhere=True)
    for loop in loops_of(program) if "sched" not in program.text.lower() else ():
        if loop.before is not None:
            made = program.followed(loop.before, f"rates = torch.optim.lr_scheduler.StepLR({loop.optimizer}, 10)")
            start = program.span(loop.step)[0]
            change = [made, Replacement(start, start, "rates.step(); ")]
            yield from mutants_of(program, SCHEDULE, "loop", change, loop.step, anywhere=True)


def mutants_of_probabilities(program: Program) -> Iterator[Mutant]:
    """`kl_div` of a `log_softmax` is one of a softmax: of what is written in its place, or under its name before."""
    for call in _calls(program, "kl_div"):
        inner = call.args[0] if call.args else None
        found = [inner] if isinstance(inner, ast.Call) else []
        if isinstance(inner, ast.Name):
            statements = ast.walk(program.function_of(call) or program.tree)
            values = [each.value for each in statements if isinstance(each, ast.Assign) and _is_named(each, inner.id)]
            found = [value for value in values if isinstance(value, ast.Call)] if len(values) == 1 else []
        for made in found:
            if last_name(made.func) == "log_softmax":
                end = program.span(made.func)[1]
                change = [Replacement(end - len("log_softmax"), end, "softmax")]
                yield from mutants_of(program, DIVERGENCE, "softmax", change, call)


def mutants_with_the_old_signature(program: Program) -> Iterator[Mutant]:
    """`compute_loss` no longer takes `num_items_in_batch`."""
    for node in program.nodes:
        if not isinstance(node, ast.FunctionDef) or node.name != "compute_loss" or not node.args.defaults:
            continue
        last, default = node.args.args[-1], node.args.defaults[-1]
        if (
            last.arg == "num_items_in_batch"
            and sum(isinstance(each, ast.Name) and each.id == last.arg for each in ast.walk(node)) == 0
        ):
            comma = program.text.rindex(",", 0, program.offset(last.lineno, last.col_offset))
            change = [Replacement(comma, program.span(default)[1], "")]
            yield from mutants_of(program, SIGNATURE, "signature", change, node.body[0], anywhere=True)


def mutants_with_old_hooks(program: Program) -> Iterator[Mutant]:
    """`register_full_backward_hook`, or `register_forward_hook` with a hook alone, is `register_backward_hook`.

    Not where the program asks which of them there is.
    """
    for name in () if "hasattr(" in program.text else ("register_full_backward_hook", "register_forward_hook"):
        for call in _calls(program, name):
            if len(call.args) == 1 and not call.keywords:
                end = program.span(call.func)[1]
                change = [Replacement(end - len(name), end, "register_backward_hook")]
                yield from mutants_of(program, HOOK, "hook", change, call)


def mutants_that_unpickle(program: Program) -> Iterator[Mutant]:
    """`weights_only=True` is `weights_only=False`; not of a file that the program names in its text: that is its own."""
    for call in _calls(program, "load"):
        if not call.args or isinstance(call.args[0], ast.Constant):
            continue
        for keyword in call.keywords if dotted(call.func) == "torch.load" else ():
            if keyword.arg == "weights_only" and ast.unparse(keyword.value) == "True":
                change = [Replacement(*program.span(keyword.value), "False")]
                yield from mutants_of(program, LOAD, "weights", change, call)


def _calls(program: Program, name: str) -> list[ast.Call]:
    return [node for node in program.nodes if isinstance(node, ast.Call) and last_name(node.func) == name]


def _is_named(statement: ast.Assign, name: str) -> bool:
    return any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)


def _is_functional(function: ast.expr) -> bool:
    return dotted(function).rpartition(".")[0].endswith(("F", "functional"))


def _is_repeated(program: Program, node: ast.AST) -> bool:
    return any(isinstance(each, ast.For | ast.While) for each in program.ancestors(node))


def _stepped(statement: ast.stmt) -> str:
    """What a statement that is a call of `step` is called on."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    name = dotted(call.func).lower() if isinstance(call, ast.Call) else ""
    return name.removesuffix(".step") if name.endswith(".step") else ""
