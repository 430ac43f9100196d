"""Calls of `forward` that the user wrote: in a comment, as `example_inputs`, or in the file."""

from __future__ import annotations

import ast
from typing import NamedTuple

import torch

from .configs import Assumption
from .containers import dictionary, listed
from .describing import typed_text
from .expressions import Evaluator
from .input_sizes import SizeChoice
from .inputs import Candidate, Makes


class Written(NamedTuple):
    """An argument as it stands in the file."""

    node: ast.expr
    evaluator: Evaluator

    def make(self, choice: SizeChoice) -> object:
        value = self.evaluator.value(self.node)
        if isinstance(value, torch.Tensor) and value.dtype in (torch.int64, torch.int32) and choice.is_capped:
            return value % choice.rows
        return value


class Example(NamedTuple):
    """A tensor of the file, made again in the mode of the run."""

    tensor: torch.Tensor

    def make(self, choice: SizeChoice) -> object:
        tensor = self.tensor
        made = torch.empty(tuple(tensor.shape), dtype=tensor.dtype)
        # Only a real run reads values.
        return tensor.clone() if type(made) is torch.Tensor and made.device.type == "cpu" else made


def written_call(call: ast.Call, evaluator: Evaluator, source: str, line: int | None) -> Candidate:
    positional = tuple(Written(node, evaluator) for node in call.args)
    named: dict[str, Makes] = {
        each.arg: Written(each.value, evaluator) for each in call.keywords if each.arg is not None
    }
    text = ", ".join(
        [*map(ast.unparse, call.args), *(f"{each.arg}={ast.unparse(each.value)}" for each in call.keywords)]
    )
    return Candidate(positional, named, (Assumption("inputs", text, source, line),), trusted=True)


def example_call(example: object) -> Candidate | None:
    """`example_inputs` of the file: a tensor, a tuple of them, or a dictionary."""
    if isinstance(example, torch.Tensor):
        example = (example,)
    note = Assumption("inputs", "example_inputs", "user")
    elements, items = listed(example), dictionary(example)
    tensors = [each for each in elements or () if isinstance(each, torch.Tensor)]
    if tensors and len(tensors) == len(elements or ()):
        return Candidate(tuple(map(Example, tensors)), {}, (note._replace(value=typed_text(tensors)),), trusted=True)
    named = {str(name): Example(each) for name, each in (items or {}).items() if isinstance(each, torch.Tensor)}
    if named and len(named) == len(items or ()):
        return Candidate((), {**named}, (note._replace(value=", ".join(named)),), trusted=True)
    return None
