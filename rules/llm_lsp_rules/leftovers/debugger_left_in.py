"""LLM905 debugger-left-in."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class DebuggerLeftIn(Rule):
    """A breakpoint was left in: the program stops there and waits for somebody at the keyboard.

    In a job without a terminal `pdb.set_trace()` raises `BdbQuit` or reads the end of its input; under `torchrun` every rank
    but one runs into a collective that never completes, and the job hangs until a timeout, with the GPUs reserved; a server
    keeps its clients waiting. If it stands in a rare branch (a loss that is NaN), that happens after days.

    Delete it. To look at a distributed run, `torch.distributed.breakpoint()` stops one rank and lets the others wait, while
    somebody is there.

    Reported are the stops of pdb, ipdb, pudb, IPython, debugpy and `breakpoint()` in modules that import a library for models.
    A stop that a test asks for (`if args.debug:`), one in a function that is named for it, and tests are left alone.
    """

    code = "LLM905"
    severity = Severity.WARNING
    triggers = ("set_trace", "breakpoint(", "post_mortem", "embed", "wait_for_client")
    bad = [
        Bad(
            """\
import pdb

import torch

def step(model, batch):
    loss = model(**batch).loss
    if torch.isnan(loss):
        pdb.set_trace()  # <- `pdb.set_trace()` stops here and waits
    return loss
""",
            fixed="""\
import pdb

import torch

def step(model, batch):
    loss = model(**batch).loss
    if torch.isnan(loss):
        pass
    return loss
""",
        ),
        # In a class, in a loop, by other names.
        Bad(
            """\
import ipdb as debugger
from IPython import embed
from pudb import set_trace
from transformers import AutoModelForCausalLM

class Server:
    def __init__(self):
        self.model = AutoModelForCausalLM.from_pretrained("gpt2")

    def answer(self, prompts):
        for prompt in prompts:
            self.look(prompt)
            embed()  # <- `embed()` stops here
            yield self.model.generate(**prompt)

    def look(self, prompt):
        breakpoint()  # <- `breakpoint()` stops here
        debugger.set_trace()  # <- `debugger.set_trace()` stops here
        set_trace()  # <- `set_trace()` stops here
        return len(prompt)
""",
            fixed="""\
import ipdb as debugger
from IPython import embed
from pudb import set_trace
from transformers import AutoModelForCausalLM

class Server:
    def __init__(self):
        self.model = AutoModelForCausalLM.from_pretrained("gpt2")

    def answer(self, prompts):
        for prompt in prompts:
            self.look(prompt)
            yield self.model.generate(**prompt)

    def look(self, prompt):
        return len(prompt)
""",
        ),
        # A notebook, and a debugger that starts where something is raised.
        Bad(
            {
                "train.ipynb": [
                    "import pdb\nimport torch\n\nmodel = torch.nn.Linear(2, 1)",
                    (
                        "for batch in loader:\n    try:\n        model(batch)\n    except RuntimeError:\n"
                        "        pdb.post_mortem()  # <- `pdb.post_mortem()` stops here\n        raise"
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    "import pdb\nimport torch\n\nmodel = torch.nn.Linear(2, 1)",
                    ("for batch in loader:\n    try:\n        model(batch)\n    except RuntimeError:\n        raise"),
                ]
            },
        ),
    ]
    good = [
        # Somebody asks for it.
        Good("""\
import argparse
import pdb

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--debug", action="store_true")
args = parser.parse_args()

def step(model, batch):
    loss = model(**batch).loss
    if args.debug and torch.isnan(loss):
        pdb.set_trace()
    return loss

def debug_batch(batch):
    breakpoint()
    return batch
"""),
        # Other things of these names.
        Good("""\
import torch

class Script:
    def __init__(self):
        self.pauses = []

    def breakpoint(self, seconds):
        self.pauses.append(seconds)

    def embed(self):
        return torch.zeros(len(self.pauses))

def set_trace(name):
    return torch.profiler.record_function(name)

script = Script()
script.breakpoint(0.5)
script.embed()
with set_trace("forward"):
    torch.ones(2)
"""),
        # No program that works with models.
        Good("""\
def look(rows):
    breakpoint()
    return rows
"""),
        # A test.
        Good(
            {
                "test_step.py": """\
import torch

def test_step():
    breakpoint()
    assert torch.ones(1)
"""
            }
        ),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for stop in facts.debugger_stops():
            if stop.is_left_in is YES:
                place = stop.call.place
                yield self.report(
                    place,
                    f"`{stop.call.callee}()` stops here and waits for somebody at the keyboard",
                    help="delete it",
                    fix=[Replace(place.range, "")],
                    safe=True,
                )
