"""What a model costs: parameters, memory, floating-point operations."""

from __future__ import annotations

import math

from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from .arguments import Recipe
from .input_sizes import SizeChoice, declared_numbers
from .inputs import Candidate
from .recording import count_of, parameters_of
from .running import FAKE_META, META, Failure, Model, Ran, Runner
from .sizes import role_of

BYTES = {"fp32": 4.0, "bf16": 2.0, "int8": 1.0, "int4": 0.5}
ADAM_STATES = 2
"""Two running means for each parameter that is trained, in float32."""


class Cost:
    """The totals of one model."""

    def __init__(self, model: nn.Module, *, is_decoder: bool) -> None:
        self.parameters = parameters_of(model)
        self.trained = sum(count_of(each) for each in model.parameters() if each.requires_grad)
        self.cache = cache_bytes(model) if is_decoder else None

    def as_value(self, flops: int | None) -> dict[str, object]:
        """Bytes: of the weights by type, of Adam's states, of the keys and values of one full context in bf16."""
        sizes: dict[str, int | None] = {name: math.ceil(self.parameters * each) for name, each in BYTES.items()}
        sizes["adam"] = self.trained * 4 * ADAM_STATES
        sizes["kv_cache"] = self.cache[0] if self.cache is not None else None
        return {
            "params": self.parameters,
            "flops": flops,
            "bytes": sizes,
            "kv_cache_length": self.cache[1] if self.cache is not None else None,
        }


def cache_bytes(model: nn.Module) -> tuple[int, int] | None:
    """Bytes in bf16 of the keys and values of one sequence of full length, and that length; None if not told by names."""
    numbers: dict[str, int] = {}
    for name, value in declared_numbers(model):
        role = role_of(name)
        if role is not None:
            numbers.setdefault(role.name, value)
    try:
        heads, layers, length = numbers["heads"], numbers["layers"], numbers["length"]
        width = numbers.get("head width") or numbers["width"] // heads
    except (KeyError, ZeroDivisionError):
        return None
    return 2 * 2 * layers * numbers.get("kv heads", heads) * width * length, length


def count_flops(runner: Runner, recipe: Recipe, ran: Ran) -> tuple[dict[str, int], Ran | Failure]:
    """Operations by module name, the whole model under the empty name; and how the run on the meta device went.

    On the meta device attention is counted in full; on a CPU its kernel has no formula and counts for nothing.
    """
    counts, done = counted(runner, recipe, ran, META)
    if isinstance(done, Failure) and done.is_of_the_mode:
        return counted(runner, recipe, ran, FAKE_META)
    return counts, done


def counted(runner: Runner, recipe: Recipe, ran: Ran, mode: str) -> tuple[dict[str, int], Ran | Failure]:
    model = runner.make(recipe, mode)
    if not isinstance(model, Model):
        return {}, model
    done, flops = run_counted(runner, model, ran.candidate, ran.choice)
    return flops, done


def run_counted(
    runner: Runner, model: Model, candidate: Candidate, choice: SizeChoice
) -> tuple[Ran | Failure, dict[str, int]]:
    """One forward pass, and what it counts; nothing if it fails."""
    counter = FlopCounterMode(display=False)
    done = runner.run(model, candidate, choice, counter)
    return done, flops_by_module(counter, model.module) if isinstance(done, Ran) else {}


def flops_by_module(counter: FlopCounterMode, model: nn.Module) -> dict[str, int]:
    """What was counted, by the names of the modules; the whole model under the empty name."""
    found: dict[str, int] = {}
    root = type(model).__name__
    for name, counts in counter.get_flop_counts().items():
        total = sum(counts.values())
        if name == "Global":
            found[""] = total
        elif name.startswith(f"{root}."):
            found[name[len(root) + 1 :]] = total
    return found
