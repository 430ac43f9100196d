"""LLM602 save-on-every-rank."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Change, Facts, Good, Report, Rule, Save, Severity, Wrap


class SaveOnEveryRank(Rule):
    """All processes of a distributed training write the same file at once.

    With eight GPUs eight processes come to `torch.save`, open the same path and write over each other. Often the last
    one wins and nothing is noticed; at times the file holds parts of two writers, and cannot be read when it is needed.

    Write on rank 0 only, `if dist.get_rank() == 0:`, and let the others wait at a `barrier` if they read the file.

    Reported are saves that all processes come to: what leads there begins a process group, wraps the model, or calls a
    collective. Silent are saves behind a test, a decorator or an early return that tells processes apart, or may, paths
    that hold the rank, buffers, sharded checkpoints, and libraries that ask for the rank by themselves.
    """

    code = "LLM602"
    severity = Severity.WARNING
    triggers = (
        "init_process_group",
        "DistributedDataParallel",
        "DistributedSampler",
        "barrier(",
        "all_reduce(",
        "all_gather(",
    )
    bad = [
        Bad(
            """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def train(model, loader, optimizer, rank, path):
    dist.init_process_group("nccl")
    model = DDP(model, device_ids=[rank])
    model.train()
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    torch.save(model.module.state_dict(), path)  # <- every process writes this file
""",
            fixed="""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

def train(model, loader, optimizer, rank, path):
    dist.init_process_group("nccl")
    model = DDP(model, device_ids=[rank])
    model.train()
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), path)
""",
        ),
        # A helper that waits for the others afterwards; another caller is right.
        Bad("""\
import torch
import torch.distributed as dist

def save(model, path):
    torch.save(model.state_dict(), path)

def fit(model, run_epoch, epochs, folder):
    dist.init_process_group("gloo")
    for epoch in range(epochs):
        loss = run_epoch(model, epoch)
        if epoch % 5 == 0:
            save(model, f"{folder}/{epoch}.pt")  # <- every process writes this file
        if dist.get_rank() == 0:
            save(model, f"{folder}/last.pt")
        dist.barrier()
"""),
        # A class whose methods share the model.
        Bad(
            """\
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

class Trainer:
    def __init__(self, model, optimizer, loader, local_rank):
        self.model = DistributedDataParallel(model, device_ids=[local_rank])
        self.optimizer, self.loader = optimizer, loader
        self.best = float("inf")

    def save(self, path):
        torch.save({"model": self.model.module.state_dict(), "best": self.best}, path)  # <- every process writes this file

    def fit(self, path):
        self.model.train()
        for batch in self.loader:
            loss = self.model(**batch).loss
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if loss.item() < self.best:
                self.best = loss.item()
                self.save(path)
""",
            fixed="""\
import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

class Trainer:
    def __init__(self, model, optimizer, loader, local_rank):
        self.model = DistributedDataParallel(model, device_ids=[local_rank])
        self.optimizer, self.loader = optimizer, loader
        self.best = float("inf")

    def save(self, path):
        if distributed.get_rank() == 0:
            torch.save({"model": self.model.module.state_dict(), "best": self.best}, path)

    def fit(self, path):
        self.model.train()
        for batch in self.loader:
            loss = self.model(**batch).loss
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            if loss.item() < self.best:
                self.best = loss.item()
                self.save(path)
""",
        ),
        # Cells of a notebook; a model of transformers.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM\n\n"
                        "torch.distributed.init_process_group('nccl')\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')"
                    ),
                    "model.save_pretrained('out')  # <- every process writes this file",
                ]
            },
            fixed={
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM\n\n"
                        "torch.distributed.init_process_group('nccl')\nmodel = AutoModelForCausalLM.from_pretrained('gpt2')"
                    ),
                    "if torch.distributed.get_rank() == 0:\n    model.save_pretrained('out')",
                ]
            },
        ),
    ]
    good = [
        Good("""\
import torch
import torch.distributed as dist

def train(model, run_epoch, path):
    dist.init_process_group("nccl")
    run_epoch(model)
    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
"""),
        # An early return, a name for the test, a flag, a function, a decorator, a caller.
        Good("""\
import functools
import torch
import torch.distributed as dist

def on_first(function):
    @functools.wraps(function)
    def run(*args):
        return function(*args) if dist.get_rank() == 0 else None
    return run

def write(model, path):
    if dist.get_rank() != 0:
        return
    torch.save(model.state_dict(), path)

@on_first
def write_decorated(model, path):
    torch.save(model.state_dict(), path)

def first():
    return dist.get_rank() == 0

def write_plainly(model, path):
    torch.save(model.state_dict(), path)

def train(model, run_epoch, path, saves):
    dist.init_process_group("nccl")
    is_first = dist.get_rank() == 0
    run_epoch(model)
    write(model, path)
    write_decorated(model, path)
    if is_first:
        torch.save(model.state_dict(), path)
        write_plainly(model, path)
    if first():
        torch.save(model.state_dict(), path)
    if saves:
        torch.save(model.state_dict(), path)
    dist.barrier()
"""),
        # A file for each, a buffer; one process.
        Good("""\
import io
import torch
import torch.distributed as dist

def train(model, run_epoch, folder):
    dist.init_process_group("nccl")
    run_epoch(model)
    torch.save(model.state_dict(), f"{folder}/{dist.get_rank()}.pt")
    own = f"{folder}/state-{dist.get_rank()}.pt"
    torch.save(model.state_dict(), own)
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    dist.all_gather_object([None] * dist.get_world_size(), buffer.getvalue())

def convert(model, path):
    torch.save(model.state_dict(), path)
"""),
        # A class that others tell when to save; the tutorial's word for the rank.
        Good("""\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

class Trainer:
    def __init__(self, model, optimizer, loader, gpu_id):
        self.gpu_id = gpu_id
        self.model = DDP(model, device_ids=[gpu_id])
        self.optimizer, self.loader = optimizer, loader

    def _save(self, path):
        torch.save(self.model.module.state_dict(), path)

    def snapshot(self, path):
        torch.save(self.optimizer.state_dict(), path)

    def fit(self, path):
        self.model.train()
        for epoch in range(3):
            for batch in self.loader:
                self.model(**batch).loss.backward()
                self.optimizer.step()
                self.optimizer.zero_grad()
            if self.gpu_id == 0 and epoch % 2 == 0:
                self._save(path)
"""),
        # Parts of one checkpoint.
        Good("""\
import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardedStateDictConfig, StateDictType

def train(model, run_epoch, path):
    dist.init_process_group("nccl")
    model = FSDP(model, use_orig_params=True)
    run_epoch(model)
    with FSDP.state_dict_type(model, StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig()):
        torch.save(model.state_dict(), path)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        faults = {save.call.record.id: save for save in facts.saves() if is_a_fault(save)}
        calls = [save.call for save in faults.values()]
        for call, place in facts.where_all_chains_agree(
            calls, lambda one: one.record.id in faults, in_this_module=True
        ):
            save = faults[call.record.id]
            yield self.report(
                place,
                "every process writes this file",
                related=[] if place == call.place else [(call.place, "writes it")],
                help="write on rank 0 only",
                fix=on_one_rank(save) if place == call.place else (),
            )


def is_a_fault(save: Save) -> bool:
    return save.is_reached_by_all is YES and save.is_for_one is NO


def on_one_rank(save: Save) -> list[Change]:
    test = save.asks_for_rank
    return [] if test is None else [Wrap(save.call.place.range, save.call.place.range, f"if {test}:")]
