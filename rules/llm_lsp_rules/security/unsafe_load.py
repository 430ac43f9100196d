"""LLM701 unsafe-load."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Report, Rule, SetArgument, Severity


class UnsafeLoad(Rule):
    """A checkpoint is read in a way that runs whatever code it brings along.

    `torch.load` unpickles, and a pickle may call any function: whoever can put a file where this one is read runs code
    in this process. With `weights_only=True` only tensors and plain values are read, which is the default since torch
    2.6. `weights_only=False` and a `pickle_module` switch that off.

    Pass `weights_only=True`; allow single classes by `torch.serialization.add_safe_globals`, or ship weights as
    safetensors. A file that holds a whole module can't be read so: save its `state_dict()`.

    A call that says nothing is a warning where the project admits torch below 2.6, an information where nothing says
    which torch it uses, and right otherwise. Left alone are tests, and files of the program's own: those that it names in
    its text, and those that it writes itself.
    """

    code = "LLM701"
    severity = Severity.WARNING
    triggers = ("torch.load", "import torch as", "torch import load", "weights_only", "pickle_module")
    bad = [
        Bad(
            """\
import sys
import torch

model = torch.load(sys.argv[1], map_location="cpu", weights_only=False)  # <- runs code that `sys.argv[1]` brings along
print(model)
""",
            fixed="""\
import sys
import torch

model = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
print(model)
""",
        ),
        # The project admits a torch that reads everything; a class whose methods share the path.
        Bad(
            """\
import torch

class Checkpoint:
    def __init__(self, folder):
        self.path = folder / "last.pt"

    def restore(self, model, optimizer):
        state = torch.load(self.path)  # <- runs code that `self.path` brings along, before torch 2.6
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
""",
            fixed="""\
import torch

class Checkpoint:
    def __init__(self, folder):
        self.path = folder / "last.pt"

    def restore(self, model, optimizer):
        state = torch.load(self.path, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
""",
            versions={"torch": ">=2.1"},
        ),
        # Nothing says which torch it is; a notebook, and a helper that a loop calls.
        Bad(
            {
                "average.ipynb": [
                    "from pathlib import Path\nimport torch",
                    'def read(path):\n    return torch.load(path, map_location="cpu")  # <- before torch 2.6',
                    'states = [read(path) for path in Path("runs").glob("*.pt")]',
                ]
            },
            fixed={
                "average.ipynb": [
                    "from pathlib import Path\nimport torch",
                    'def read(path):\n    return torch.load(path, map_location="cpu", weights_only=True)',
                    'states = [read(path) for path in Path("runs").glob("*.pt")]',
                ]
            },
            severity=Severity.INFORMATION,
        ),
        # By another pickle.
        Bad("""\
import dill
import torch

def read(path):
    return torch.load(path, pickle_module=dill)  # <- runs code that `path` brings along
"""),
    ]
    good = [
        Good("""\
import torch

def restore(model, path, device):
    options = {"map_location": device, "weights_only": True}
    model.load_state_dict(torch.load(path, **options))
    return torch.load(path, map_location=device, weights_only=True)
"""),
        # The default of the torch that the project requires.
        Good(
            """\
import torch

def restore(model, path):
    model.load_state_dict(torch.load(path, map_location="cpu"))
""",
            versions={"torch": ">=2.6"},
        ),
        # What the program itself has written.
        Good("""\
import io
import torch

def copy(model, path):
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    torch.save(model.state_dict(), path)
    return torch.load(buffer, weights_only=False), torch.load(path)

def best(model):
    torch.save(model, "best.pt")
    return torch.load("best.pt", weights_only=False)
"""),
        # Who calls decides, or what is passed is not seen.
        Good("""\
import torch

def read(path, weights_only=False, **settings):
    return torch.load(path, weights_only=weights_only), torch.load(path, **settings)
"""),
        # Other functions of the same name.
        Good("""\
import json
import numpy as np
from safetensors.torch import load_file

def read(path):
    return json.load(open(path)), np.load(path), load_file(path)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        is_new = facts.requires("torch", ">=2.6")
        for read in facts.checkpoint_reads():
            call = read.call
            if call.is_in_a_test or read.is_the_programs_own is not NO:
                continue
            message = f"runs code that {read.path} brings along"
            advice = "pass `weights_only=True`"
            if call.passes("pickle_module") is YES:
                yield self.report(call.place, message, help="read weights only, without a pickle module")
            elif read.reads_weights_only is NO:
                fix = [SetArgument(call.place.range, "weights_only", "True")]
                yield self.report(call.place, message, help=advice, fix=fix)
            elif read.leaves_it_to_torch is NO and is_new is not YES:
                severity = Severity.WARNING if is_new is NO else Severity.INFORMATION
                fix = [SetArgument(call.place.range, "weights_only", "True")]
                yield self.report(call.place, f"{message}, before torch 2.6", severity=severity, help=advice, fix=fix)
