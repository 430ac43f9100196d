"""LLM412 checkpointing-frozen-inputs."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, SetArgument, Severity


class CheckpointingFrozenInputs(Rule):
    """A re-entrant checkpoint is given inputs without gradients, so that the parameters inside get none either.

    With `use_reentrant=True`, `torch.utils.checkpoint` runs the block under `no_grad` and computes it again in `backward`,
    which comes there only along inputs that ask for gradients. Behind a frozen embedding there are none: torch warns once
    ("None of the inputs have requires_grad=True"), the blocks keep the weights that they began with, and where something
    behind them learns, the loss still falls. Pass `use_reentrant=False`: that checkpoint looks at the parameters, too.

    Reported where the program itself says `use_reentrant=True` and every input comes out of modules that it freezes, of
    `nn.Embedding.from_pretrained`, or of what runs without gradients. Silent where anything else goes into the inputs, a
    parameter for positions for instance, where somebody asks for their gradients (`requires_grad_()` of any module, a
    forward hook, `enable_input_require_grads`), or sets `requires_grad` of single parameters, and for the checkpoints that
    transformers and peft set up, which repair it themselves.
    """

    code = "LLM412"
    severity = Severity.ERROR
    triggers = ("use_reentrant",)
    bad = [
        Bad(
            """\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self, words=1000, width=64, depth=4):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.embed.requires_grad_(False)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, 8, batch_first=True) for _ in range(depth))
        self.head = nn.Linear(width, words)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)  # <- computes no gradients of its parameters: `x` comes out of `self.embed`, which is frozen
        return self.head(x)
""",
            fixed="""\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self, words=1000, width=64, depth=4):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.embed.requires_grad_(False)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(width, 8, batch_first=True) for _ in range(depth))
        self.head = nn.Linear(width, words)

    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return self.head(x)
""",
        ),
        # A pretrained embedding, which is frozen unless it is told otherwise; an encoder that runs without gradients.
        Bad(
            """\
import torch
import torch.utils.checkpoint as cp
from torch import nn

class Tagger(nn.Module):
    def __init__(self, vectors, encoder, width):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors)
        self.encoder = encoder
        self.body = nn.GRU(width, width, batch_first=True)
        self.top = nn.Linear(width, 9)

    def forward(self, ids):
        return self.top(cp.checkpoint(self.body, self.words(ids), use_reentrant=True)[0])  # <- which is frozen

    def on_sound(self, sound):
        with torch.no_grad():
            heard = self.encoder(sound)
        return self.top(cp.checkpoint(self.body, heard, use_reentrant=True)[0])  # <- which runs without gradients
""",
            fixed="""\
import torch
import torch.utils.checkpoint as cp
from torch import nn

class Tagger(nn.Module):
    def __init__(self, vectors, encoder, width):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors)
        self.encoder = encoder
        self.body = nn.GRU(width, width, batch_first=True)
        self.top = nn.Linear(width, 9)

    def forward(self, ids):
        return self.top(cp.checkpoint(self.body, self.words(ids), use_reentrant=False)[0])

    def on_sound(self, sound):
        with torch.no_grad():
            heard = self.encoder(sound)
        return self.top(cp.checkpoint(self.body, heard, use_reentrant=False)[0])
""",
        ),
    ]
    good = [
        # The other checkpoint; an embedding that learns; positions that do.
        Good("""\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.frozen = nn.Embedding(words, width)
        self.frozen.requires_grad_(False)
        self.positions = nn.Parameter(torch.zeros(1, 512, width))
        self.block = nn.TransformerEncoderLayer(width, 8, batch_first=True)

    def forward(self, ids):
        x = checkpoint(self.block, self.frozen(ids), use_reentrant=False)
        y = checkpoint(self.block, self.embed(ids), use_reentrant=True)
        z = checkpoint(self.block, self.frozen(ids) + self.positions[:, : ids.shape[1]], use_reentrant=True)
        return x + y + z
"""),
        # Somebody asks for the gradients of the inputs.
        Good("""\
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.embed.requires_grad_(False)
        self.hooked = nn.Embedding(words, width)
        self.hooked.requires_grad_(False)
        self.hooked.register_forward_hook(lambda module, given, output: output.requires_grad_(True))
        self.block = nn.TransformerEncoderLayer(width, 8, batch_first=True)

    def forward(self, ids):
        x = self.embed(ids)
        x.requires_grad_(True)
        return checkpoint(self.block, x, use_reentrant=True) + checkpoint(self.block, self.hooked(ids), use_reentrant=True)
"""),
        # Thawed along with the whole model, for a second stage.
        Good("""\
from torch import nn
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.embed.requires_grad_(False)
        self.block = nn.TransformerEncoderLayer(width, 8, batch_first=True)

    def forward(self, ids):
        return checkpoint(self.block, self.embed(ids), use_reentrant=True)

def second_stage(net: Net):
    net.requires_grad_(True)
    return net
"""),
        Good("""\
from torch import nn
from torch.utils.checkpoint import checkpoint

class Net(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.embed.requires_grad_(False)
        self.block = nn.TransformerEncoderLayer(width, 8, batch_first=True)

    def forward(self, ids):
        return checkpoint(self.block, self.embed(ids), use_reentrant=True)

def second_stage(words, width):
    net = Net(words, width)
    for parameter in net.parameters():
        parameter.requires_grad = True
    return net
"""),
        # Frozen only sometimes, or thawed later; inputs that come from outside; a library that repairs it.
        Good("""\
from peft import LoraConfig, get_peft_model
from torch import nn
from torch.utils.checkpoint import checkpoint
from transformers import AutoModelForCausalLM

class Net(nn.Module):
    def __init__(self, words, width, freeze):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.later = nn.Embedding(words, width)
        self.later.requires_grad_(False)
        if freeze:
            self.embed.requires_grad_(False)
        self.block = nn.Linear(width, width)

    def thaw(self):
        self.later.requires_grad_(True)

    def forward(self, ids, states):
        x = checkpoint(self.block, self.embed(ids), use_reentrant=True)
        y = checkpoint(self.block, self.later(ids), use_reentrant=True)
        return x + y + checkpoint(self.block, states, use_reentrant=True)

def adapted(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    return get_peft_model(model, LoraConfig(task_type="CAUSAL_LM"))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        faults = {part.call.record.id: part for part in facts.recomputed_parts() if part.gets_no_gradients is YES}
        calls = [part.call for part in faults.values()]
        for call, place in facts.where_all_chains_agree(
            calls, lambda one: one.record.id in faults, in_this_module=True
        ):
            part = faults[call.record.id]
            why = "is frozen" if part.is_behind_frozen else "runs without gradients"
            yield self.report(
                place,
                f"computes no gradients of its parameters: `{part.input_text}` comes out of `{part.origin}`, which {why}",
                help="pass `use_reentrant=False`",
                fix=[SetArgument(call.place.range, "use_reentrant", "False")] if place == call.place else (),
            )
