"""Training loops as most people write them: in a loop, `loss.backward()` and `optimizer.step()`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from scripts.mutation.edits import Function, Program, Replacement, dotted, last_name

__all__ = ["Loop", "loops_of"]

_OPTIMIZER = re.compile(r"(?:\w+\.)*\w*opt(?:im(?:izer)?)?\w*", re.IGNORECASE)
_PARAMETERS = re.compile(r"\b([A-Za-z_][\w.]*)\.(?:named_)?parameters\(\)")
_CALLED = re.compile(r"\b((?:self\.)?\w*(?:model|net))\(")


class Loop(NamedTuple):
    """One training loop."""

    scope: ast.AST
    """The function that it stands in, or the module."""
    imported: ast.stmt
    """`import torch`."""
    before: ast.stmt | None
    """The statement before the outermost loop; None where none is."""
    optimizer: str
    model: str
    backward: ast.Expr
    loss: str
    """What gradients are computed of, as it is written."""
    step: ast.Expr

    def with_scaler(self, program: Program, after_backward: str = "") -> list[Replacement]:
        """The changes by which a loss scaler comes in."""
        return [
            program.followed(self.imported, 'scaler = torch.amp.GradScaler("cuda")'),
            program.blanked(self.backward, f"scaler.scale({self.loss}).backward(){after_backward}"),
            program.blanked(self.step, f"scaler.step({self.optimizer}); scaler.update()"),
        ]


def loops_of(program: Program) -> Iterator[Loop]:
    """The first loop of each function."""
    imported = next((node for node in program.tree.body if ast.unparse(node) == "import torch"), None)
    seen: set[ast.AST] = set()
    for node in program.nodes if imported is not None else ():
        called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        if not isinstance(called, ast.Attribute) or called.attr != "backward" or not isinstance(node, ast.Expr):
            continue
        scope = program.function_of(node) or program.tree
        step = next((each for each in ast.walk(scope) if _is_step(each)), None)
        call = step.value if isinstance(step, ast.Expr) and isinstance(step.value, ast.Call) else None
        optimizer = dotted(call.func).rpartition(".")[0] if call is not None else ""
        model = _model_of(program, scope, optimizer)
        loops = [each for each in program.ancestors(node) if isinstance(each, ast.For | ast.While)]
        given = node.value.args if isinstance(node.value, ast.Call) else []
        # `accelerator.backward(loss)`, or `loss.backward()`.
        loss = given[0] if given else called.value
        is_whole = scope not in seen and "scale" not in dotted(called.value) and not isinstance(loss, ast.Call)
        seen.add(scope)
        if is_whole and isinstance(step, ast.Expr) and model is not None and loops and imported is not None:
            before = _before(program, loops[-1], scope)
            yield Loop(scope, imported, before, optimizer, model, node, program.source(loss), step)


def _model_of(program: Program, scope: ast.AST, optimizer: str) -> str | None:
    """What the optimizer of a loop has the parameters of, or the whole that is called of which that is a part."""
    of_optimizer = re.search(rf"\b{re.escape(optimizer)} = .*?{_PARAMETERS.pattern}", program.text)
    named = of_optimizer or _PARAMETERS.search(ast.unparse(scope)) or _PARAMETERS.search(program.text)
    if named is None:
        called = _CALLED.search(ast.unparse(scope)) or _CALLED.search(program.text)
        return called[1] if called is not None else None
    parts = named[1].split(".")
    wholes = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((each for each in wholes if re.search(rf"(?<![.\w]){re.escape(each)}\(", program.text)), named[1])


def _before(program: Program, loop: ast.AST, scope: ast.AST) -> ast.stmt | None:
    """The statement before the loop in its block, if something can follow it on its row."""
    if program.parents[loop] is not scope or not isinstance(scope, Function | ast.Module):
        return None
    at = next((index for index, each in enumerate(scope.body) if each is loop), 0)
    found = scope.body[at - 1] if at else None
    return None if found is None or hasattr(found, "body") else found


def _is_step(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or call.args or last_name(call.func) != "step":
        return False
    return _OPTIMIZER.fullmatch(dotted(call.func).rpartition(".")[0]) is not None
