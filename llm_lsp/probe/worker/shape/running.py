"""One run of one model in one mode: abstract with fake tensors, abstract on the meta device, or real and small."""

from __future__ import annotations

import builtins
import contextlib
import logging
from collections.abc import Callable, Generator
from typing import NamedTuple

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from ..limits import is_out_of_memory
from .arguments import Recipe
from .assigned import NOTE, Assigned, Assignments
from .configs import Notes
from .errors import Explained, explain
from .input_sizes import SizeChoice
from .inputs import Candidate, smallest_vocabulary
from .operations import Failed, Operations
from .recording import Progress, Recorder

FAKE, META, REAL = "fake", "meta", "real"
FAKE_META = "fake tensors on meta"
SEED = 20
UNSUPPORTED = (
    "meta tensors",
    "Cannot copy out of meta",
    "data dependent",
    "data-dependent",
    "DataDependent",
    "DynamicOutputShape",
    "not implemented for",
    "Could not run",
    "unsupported autocast device",
    "fake tensor",
    "FakeTensor",
    "Expected all tensors to be on the same device",
    "Expected inputs of BF16",
    "on different devices",
    "device type at start of device string",
    "NotImplementedError",
    "no attribute 'data_ptr'",
    "Cannot access data pointer",
    "numpy",
)
"""Words of errors that speak of the mode, not of the model."""


class Model(NamedTuple):
    """A model made in one mode."""

    module: nn.Module
    notes: Notes
    mode: str
    shrunk: bool


class Ran(NamedTuple):
    """A run that came to its end."""

    mode: str
    model: Model
    recorder: Recorder
    operations: Operations
    output: object
    inputs: tuple[list[object], dict[str, object]]
    candidate: Candidate
    choice: SizeChoice
    assigned: list[Assigned]


class Failure(NamedTuple):
    """A run that raised."""

    mode: str
    stage: str
    error: BaseException
    explained: Explained
    failed: Failed | None
    finished: int
    """Modules that had run to their end."""
    inputs: tuple[object, ...]
    candidate: Candidate | None = None
    choice: SizeChoice | None = None
    notes: Notes | None = None

    @property
    def is_of_the_mode(self) -> bool:
        text = f"{type(self.error).__name__}: {self.error}"
        return self.mode != REAL and any(words in text for words in UNSUPPORTED)

    @property
    def signature(self) -> tuple[object, ...]:
        """What two runs share that fail for one reason."""
        return self.explained.place, self.explained.operation, self.explained.kind


@contextlib.contextmanager
def running(mode: str, operations: Operations, fake: FakeTensorMode | None = None) -> Generator[None]:
    """The mode, seeded; tensors are made where it wants them, fake ones by `fake`."""
    with contextlib.ExitStack() as stack:
        if fake is not None:
            stack.enter_context(fake)
        stack.enter_context(torch.device(device_of(mode)))
        stack.enter_context(torch.no_grad())
        stack.enter_context(operations)
        if mode == REAL:
            torch.manual_seed(SEED)
        # One fused operation for a whole layer: abstract execution doesn't know it, and no line of a layer would show.
        torch.backends.mha.set_fastpath_enabled(False)
        yield


def device_of(mode: str) -> str:
    return "meta" if mode in (META, FAKE_META) else "cpu"


class Runner:
    """Makes and runs models of one file."""

    def __init__(self, root: str, progress: Callable[[str, Progress], None]) -> None:
        self.root = root
        self.progress = progress
        self.fakes: dict[str, FakeTensorMode] = {}

    def fake(self, mode: str) -> FakeTensorMode | None:
        """What makes tensors fake: the same for a model and its runs, or each of its parameters would be made fake anew."""
        if mode not in (FAKE, FAKE_META):
            return None
        if mode not in self.fakes:
            self.fakes[mode] = FakeTensorMode(allow_non_fake_inputs=True)
        return self.fakes[mode]

    def make(self, recipe: Recipe, mode: str, *, shrunk: bool = False) -> Model | Failure:
        """The model in evaluation mode, or why it can't be made."""
        notes = Notes()
        operations = Operations(device_of(mode), self.root)
        try:
            with running(mode, operations, self.fake(mode)):
                module = recipe.make(notes, shrunk)
                module.eval()
        except Exception as error:  # whatever the user's constructor raises
            if is_out_of_memory(error):
                raise
            return Failure(
                mode,
                "construct",
                error,
                explain(error, self.root, operations.failed),
                operations.failed,
                0,
                (),
                notes=notes,
            )
        return Model(module, notes, mode, shrunk)

    def run(
        self,
        model: Model,
        candidate: Candidate,
        choice: SizeChoice,
        counter: contextlib.AbstractContextManager[object] | None = None,
    ) -> Ran | Failure:
        """One forward pass, watched; `counter` is active during it."""
        if model.shrunk:
            choice = choice._replace(rows=smallest_vocabulary(model.module))
        operations = Operations(device_of(model.mode), self.root)
        recorder = Recorder(model.module, self.root, lambda progress: self.progress("forward", progress))
        assignments = Assignments()
        made: tuple[list[object], dict[str, object]] = ([], {})
        setattr(builtins, NOTE, assignments.note)
        try:
            with running(model.mode, operations, self.fake(model.mode)):
                made = candidate.make(choice)
                operations.declare_all([*made[0], *made[1].values()], model.module)
                operations.watching = True
                with counter or contextlib.nullcontext():
                    output = model.module(*made[0], **made[1])
                operations.watching = False
        except Exception as error:  # whatever the user's `forward` raises
            if is_out_of_memory(error):
                raise
            operations.watching = False
            explained = explain(error, self.root, operations.failed)
            inputs = (*made[0], *made[1].values())
            return Failure(
                model.mode,
                "forward",
                error,
                explained,
                operations.failed,
                recorder.finished,
                inputs,
                candidate,
                choice,
                model.notes,
            )
        finally:
            recorder.close()
            setattr(builtins, NOTE, ignore)
        return Ran(model.mode, model, recorder, operations, output, made, candidate, choice, assignments.found())


def silence_torch() -> None:
    """Abstract execution logs each failing operation in full; what fails is ours to tell."""
    logging.getLogger("torch").setLevel(logging.CRITICAL)


def ignore(line: int, name: str, value: object) -> None:
    """Stands in for a note while nothing is watched."""


setattr(builtins, NOTE, ignore)
