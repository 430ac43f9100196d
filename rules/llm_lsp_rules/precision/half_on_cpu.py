"""LLM303 half-on-cpu."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Change, Choice, Facts, Good, Replace, Report, Rule, Severity

_DECIDES_DEVICE = ("cuda", "gpu", "device", "cpu", "mps", "xpu", "hpu")


class HalfOnCpu(Rule):
    """A model in float16 is run on the CPU, at least on some path.

    Float16 is made for GPUs. On a CPU it is slower than float32 and keeps only float16's narrow range; torch 1.13 and
    2.0 have no float16 matrix product there at all and raise `"addmm_impl_cpu_" not implemented for 'Half'`, while
    torch 2.13 runs the layers that transformers are made of. Halve only where the target is a GPU, or use bfloat16.

    It is an error where the project's torch is older than 2.1, and information otherwise. Nothing is said where a
    test of the device decides on the type or on the call, and where something unseen may have moved the model.
    """

    code = "LLM303"
    severity = Severity.ERROR
    # A model that another module loads is run here without a word of its type.
    triggers = ("half", "float16", "generate(", "no_grad", "inference_mode")
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("intfloat/e5-small-v2").half()  # <- float16 runs on the CPU
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]])).last_hidden_state.shape)
""",
            fixed="""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("intfloat/e5-small-v2").bfloat16()
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]])).last_hidden_state.shape)
""",
            severity=Severity.INFORMATION,
        ),
        # The device falls back to the CPU, and the type does not.
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.float16).to(device)  # <- of some machines
print(tokenizer.decode(model.generate(**tokenizer("Once", return_tensors="pt").to(device), max_new_tokens=9)[0]))
""",
            fixed="""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = "cuda" if torch.cuda.is_available() else "cpu"
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.float16 if torch.cuda.is_available() else torch.float32).to(device)
print(tokenizer.decode(model.generate(**tokenizer("Once", return_tensors="pt").to(device), max_new_tokens=9)[0]))
""",
            severity=Severity.INFORMATION,
        ),
        Bad(
            {
                "server.py": """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Engine:
    def __init__(self, name, device="cpu"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, device_map=device, dtype="float16")  # <- float16 runs
        self.device = device

    def answer(self, prompt):
        inputs = self.tokenizer(prompt, return_tensors="pt").to(self.device)
        return self.tokenizer.decode(self.model.generate(**inputs, max_new_tokens=64)[0])
"""
            },
            fixed={
                "server.py": """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Engine:
    def __init__(self, name, device="cpu"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, device_map=device, dtype="bfloat16")
        self.device = device

    def answer(self, prompt):
        inputs = self.tokenizer(prompt, return_tensors="pt").to(self.device)
        return self.tokenizer.decode(self.model.generate(**inputs, max_new_tokens=64)[0])
"""
            },
            versions={"torch": "==2.0.1"},
        ),
        # The inputs are cast too: changing the weights alone would break the program.
        Bad(
            """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).half()  # <- float16 runs on the CPU
with torch.no_grad():
    print(net(torch.zeros(4, 8, dtype=torch.float16)))
""",
            severity=Severity.INFORMATION,
        ),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModel

device = "cuda" if torch.cuda.is_available() else "cpu"
model = AutoModel.from_pretrained("intfloat/e5-small-v2").to(device)
if device == "cuda":
    model = model.half()
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]]).to(device)).last_hidden_state.shape)
"""),
        Good("""\
import torch
from transformers import AutoModel

dtype = torch.float16 if torch.cuda.is_available() else torch.float32
model = AutoModel.from_pretrained("intfloat/e5-small-v2", torch_dtype=dtype)
model.to("cuda" if torch.cuda.is_available() else "cpu")
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]]).to(model.device)).last_hidden_state.shape)
"""),
        Good("""\
import torch
from transformers import AutoModel

def load(name):
    use_gpu = torch.cuda.is_available()
    model = AutoModel.from_pretrained(name)
    return model.half().cuda() if use_gpu else model

@torch.no_grad()
def embed(ids):
    return load("intfloat/e5-small-v2")(ids).last_hidden_state
"""),
        # Without a GPU the program ends before.
        Good("""\
import sys

import torch
from transformers import AutoModel

if not torch.cuda.is_available():
    sys.exit("this program needs a GPU")
device = "cuda" if torch.cuda.is_available() else "cpu"
model = AutoModel.from_pretrained("intfloat/e5-small-v2", torch_dtype=torch.float16).to(device)
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]]).to(device)).last_hidden_state.shape)
"""),
        Good("""\
import torch
from transformers import AutoModel

def load(name, device):
    if device.type == "cpu":
        return AutoModel.from_pretrained(name)
    return AutoModel.from_pretrained(name, torch_dtype=torch.float16).to(device)

model = load("intfloat/e5-small-v2", torch.device("cpu"))
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]])).last_hidden_state.shape)
"""),
        # Whoever calls it decides where it runs.
        Good("""\
import torch
from transformers import AutoModel

def load(name, device):
    return AutoModel.from_pretrained(name, torch_dtype=torch.float16).to(device)

@torch.no_grad()
def embed(name, ids, device):
    return load(name, device)(ids.to(device)).last_hidden_state
"""),
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("intfloat/e5-small-v2", dtype=torch.bfloat16)
other = AutoModel.from_pretrained("intfloat/e5-small-v2", dtype=torch.float16, device_map="auto")
third = AutoModel.from_pretrained("intfloat/e5-small-v2", dtype=torch.float16).to(0)
with torch.no_grad():
    for each in (model, other, third):
        print(each(torch.tensor([[1, 2, 3]]).to(each.device)).last_hidden_state.shape)
"""),
        # Back in float32 before it runs there.
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("intfloat/e5-small-v2", dtype=torch.float16).cuda()
ids = torch.tensor([[1, 2, 3]])
with torch.no_grad():
    fast = model(ids.cuda()).last_hidden_state
    model.cpu().float()
    print((fast.cpu() - model(ids).last_hidden_state).abs().max())
"""),
        # Halved for the disk alone.
        Good("""\
from transformers import AutoModel

model = AutoModel.from_pretrained("intfloat/e5-small-v2").half()
model.save_pretrained("e5-half")
"""),
        # A part goes wherever the whole is moved.
        Good("""\
import torch
from torch import nn
from transformers import AutoModel

class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = AutoModel.from_pretrained("intfloat/e5-small-v2", dtype=torch.float16)
        self.head = nn.Linear(384, 1, dtype=torch.float16)

    def forward(self, ids):
        return self.head(self.encoder(ids).last_hidden_state[:, 0])
"""),
        Good("""\
import torch
from transformers import AutoModel

torch.set_default_device("cuda")
model = AutoModel.from_pretrained("intfloat/e5-small-v2").half()
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]])).last_hidden_state.shape)
"""),
        Good("""\
import torch
from torch import nn

with torch.device("cuda"):
    net = nn.Linear(8, 8).half()
    with torch.no_grad():
        print(net(torch.zeros(4, 8, dtype=torch.float16)))
"""),
        Good("""\
import torch
from accelerate import Accelerator, dispatch_model
from transformers import AutoModel

accelerator = Accelerator()
model = accelerator.prepare(AutoModel.from_pretrained("intfloat/e5-small-v2", dtype=torch.float16))
other = dispatch_model(AutoModel.from_pretrained("intfloat/e5-base-v2", dtype=torch.float16), {"": 0})
ids = torch.tensor([[1, 2, 3]]).to(accelerator.device)
with torch.no_grad():
    print(model(ids).last_hidden_state.shape, other(ids).last_hidden_state.shape)
"""),
        Good(
            {
                "where.py": """\
import torch

def best_device():
    return torch.device("cuda:0")
""",
                "run.py": """\
import torch
from transformers import AutoModel

from where import best_device

model = AutoModel.from_pretrained("intfloat/e5-small-v2").half().to(best_device())
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]]).to(best_device())).last_hidden_state.shape)
""",
            }
        ),
        # The user asked for it by an option that is off.
        Good("""\
import argparse

import torch
from transformers import AutoModel

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
parser.add_argument("--half", action="store_true")
args = parser.parse_args()
model = AutoModel.from_pretrained("intfloat/e5-small-v2").to(args.device)
if args.half:
    model.half()
with torch.no_grad():
    print(model(torch.tensor([[1, 2, 3]]).to(args.device)).last_hidden_state.shape)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[object] = set()
        for call in facts.runs_of_models():
            for half in call.states("dtype"):
                if half.value != "float16" or half.place is None or half.place in seen:
                    continue
                if half.is_guarded_by(*_DECIDES_DEVICE) or call.is_guarded_by(*_DECIDES_DEVICE):
                    continue
                on_cpu = [where for where in call.devices() if where.value == "cpu" and where.agrees_with(half)]
                if on_cpu:
                    seen.add(half.place)
                    # Asked late: most files have no such run, and reading what a project declares takes 10 ms.
                    fails = facts.requires("torch", "<2.1") is YES
                    yield self.report(
                        half.place,
                        "a model in float16 runs on the CPU" + (" of some machines" if on_cpu[0].conditions else ""),
                        severity=Severity.ERROR if fails else Severity.INFORMATION,
                        related=[(call.place, "runs here")],
                        help="halve only where the target is a GPU, or use `torch.bfloat16`",
                        fix=repair(half, on_cpu[0]),
                    )


def repair(half: Choice, on_cpu: Choice) -> list[Change]:
    """float32 where there is no GPU, if the program asks for one in plain words; else bfloat16."""
    place = half.place
    if place is not None and on_cpu.gpu_test is not None and place.text.endswith(".float16"):
        root = place.text.removesuffix("float16")
        return [Replace(place.range, f"{place.text} if {on_cpu.gpu_test} else {root}float32")]
    written = half.written_as("bfloat16")
    return [Replace(*written)] if written is not None else []
