"""LLM405 eval-mode-kept."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Change, Facts, Good, InsertAfter, InsertBefore, KeptMode, Report, Rule, Severity


class EvalModeKept(Rule):
    """Training goes on in evaluation mode after the first evaluation.

    In evaluation mode dropout drops nothing, and batch normalisation neither uses the batch nor learns from it. A loop
    that calls `model.eval()` to validate or to show a sample, and never `model.train()`, regularises for one round
    only: from then on the model overfits, the loss looks better than before, and nothing is said.

    Call `model.train()` where each round of training begins, or right after an evaluation in the middle of one. What
    evaluates in a function can leave the mode as it found it: keep `model.training`, and restore it with
    `model.train(was_training)` in a `finally`.

    Reported is an `eval()` inside a loop that also trains the same model, if some path from it comes round to the
    training and nothing in the loop may call `train()`. Silent are models that are never optimized, such as teachers,
    loops that are left after the evaluation, models that each round makes anew, and models whose layers are all known
    to compute the same in both modes.
    """

    code = "LLM405"
    severity = Severity.ERROR
    triggers = ("eval()", "backward")
    bad = [
        # A validation after each epoch.
        Bad(
            """\
import torch

def fit(model, optimizer, training, validation, epochs):
    for epoch in range(epochs):
        for batch in training:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()  # <- `model` stays in evaluation mode while the next rounds of this loop train it
        with torch.no_grad():
            print(epoch, sum(model(**batch).loss.item() for batch in validation))
""",
            fixed="""\
import torch

def fit(model, optimizer, training, validation, epochs):
    for epoch in range(epochs):
        model.train()
        for batch in training:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(epoch, sum(model(**batch).loss.item() for batch in validation))
""",
        ),
        # A sample from time to time; the mode is set before the loop, and never again.
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
prompt = tokenizer("Once", return_tensors="pt")

def run(batches):
    model.train()
    for step, batch in enumerate(batches):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            model.eval()  # <- `model` stays in evaluation mode
            print(tokenizer.decode(model.generate(**prompt, max_new_tokens=20)[0]))
""",
            fixed="""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
prompt = tokenizer("Once", return_tensors="pt")

def run(batches):
    model.train()
    for step, batch in enumerate(batches):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            model.eval()
            print(tokenizer.decode(model.generate(**prompt, max_new_tokens=20)[0]))
            model.train()
""",
        ),
        # The next epoch calls `train()`; the rest of this one does without.
        Bad(
            """\
import torch

def fit(model, optimizer, loader, probe):
    for epoch in range(3):
        model.train()
        for step, batch in enumerate(loader):
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step % 500 == 0:
                model.eval()  # <- stays in evaluation mode
                with torch.no_grad():
                    print(epoch, step, model(**probe).loss.item())
""",
            fixed="""\
import torch

def fit(model, optimizer, loader, probe):
    for epoch in range(3):
        model.train()
        for step, batch in enumerate(loader):
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step % 500 == 0:
                model.eval()
                with torch.no_grad():
                    print(epoch, step, model(**probe).loss.item())
                model.train()
""",
        ),
        # Methods that share one model.
        Bad(
            """\
import torch
from torch import nn

class Runner:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer

    def train_epoch(self, loader):
        for x, y in loader:
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def accuracy(self, loader):
        self.net.eval()  # <- `self.net` stays in evaluation mode
        return sum((self.net(x).argmax(-1) == y).float().mean().item() for x, y in loader)

    def fit(self, training, validation):
        for epoch in range(10):
            self.train_epoch(training)
            print(self.accuracy(validation))
""",
            fixed="""\
import torch
from torch import nn

class Runner:
    def __init__(self, net, optimizer):
        self.net = net
        self.optimizer = optimizer

    def train_epoch(self, loader):
        self.net.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(self.net(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def accuracy(self, loader):
        self.net.eval()
        return sum((self.net(x).argmax(-1) == y).float().mean().item() for x, y in loader)

    def fit(self, training, validation):
        for epoch in range(10):
            self.train_epoch(training)
            print(self.accuracy(validation))
""",
        ),
        # A helper that is right after the loop and wrong inside.
        Bad(
            """\
import torch
from torch import nn, optim

@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    return sum((net(x).argmax(-1) == y).float().mean().item() for x, y in loader)

def main(training, validation, test):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.2), nn.Linear(8, 2))
    optimizer = optim.Adam(net.parameters())
    for epoch in range(5):
        for x, y in training:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        print(accuracy(net, validation))  # <- `net` stays in evaluation mode
    print(accuracy(net, test))
""",
            fixed="""\
import torch
from torch import nn, optim

@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    return sum((net(x).argmax(-1) == y).float().mean().item() for x, y in loader)

def main(training, validation, test):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.2), nn.Linear(8, 2))
    optimizer = optim.Adam(net.parameters())
    for epoch in range(5):
        net.train()
        for x, y in training:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        print(accuracy(net, validation))
    print(accuracy(net, test))
""",
        ),
        # Cells of a notebook.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForSequenceClassification, set_seed\n\nset_seed(0)\n"
                        'model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)"
                    ),
                    "batches = torch.load('train.pt')\nheld_out = torch.load('held-out.pt')",
                    (
                        "model.train()\nfor epoch in range(3):\n    for batch in batches:\n        model(**batch).loss.backward()\n"
                        "        optimizer.step()\n        optimizer.zero_grad()\n    model.eval()  # <- `model` stays in evaluation mode\n"
                        "    with torch.no_grad():\n        print(model(**held_out).loss.item())"
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForSequenceClassification, set_seed\n\nset_seed(0)\n"
                        'model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")\n'
                        "optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)"
                    ),
                    "batches = torch.load('train.pt')\nheld_out = torch.load('held-out.pt')",
                    (
                        "model.train()\nfor epoch in range(3):\n    model.train()\n    for batch in batches:\n"
                        "        model(**batch).loss.backward()\n        optimizer.step()\n        optimizer.zero_grad()\n    model.eval()\n"
                        "    with torch.no_grad():\n        print(model(**held_out).loss.item())"
                    ),
                ]
            },
        ),
        # The phases of an epoch are rounds of a loop of their own; the first one trains.
        Bad("""\
import torch
from torch import nn
from torch.nn import functional as F

def fit(loaders, epochs=10):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for phase in ("train", "val"):
            if phase == "val":
                model.eval()  # <- `model` stays in evaluation mode
            for x, y in loaders[phase]:
                with torch.set_grad_enabled(phase == "train"):
                    loss = F.cross_entropy(model(x), y)
                    if phase == "train":
                        optimizer.zero_grad()
                        loss.backward()
                        optimizer.step()
"""),
        # Each of two models that a loop runs through.
        Bad("""\
import torch
from torch import nn

def fit(loader, fixed, epochs=10):
    torch.manual_seed(0)
    G = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    D = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.1), nn.Linear(8, 1))
    g_optimizer = torch.optim.Adam(G.parameters())
    d_optimizer = torch.optim.Adam(D.parameters())
    for epoch in range(epochs):
        for real in loader:
            fake = G(torch.randn(4, 8))
            d_loss = D(fake.detach()).mean() - D(real).mean()
            d_optimizer.zero_grad()
            d_loss.backward()
            d_optimizer.step()
            g_loss = -D(fake).mean()
            g_optimizer.zero_grad()
            g_loss.backward()
            g_optimizer.step()
        for m in (G, D):
            m.eval()  # <- `G` stays in evaluation mode
        with torch.no_grad():
            print(G(fixed).mean().item(), D(G(fixed)).mean().item())
"""),
    ]
    good = [
        Good("""\
import torch

def fit(model, optimizer, training, validation, epochs):
    for epoch in range(epochs):
        model.train()
        for batch in training:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(epoch, sum(model(**batch).loss.item() for batch in validation))
"""),
        Good("""\
import torch

def preview(model, probe):
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            print(model(**probe).loss.item())
    finally:
        model.train(was_training)

def fit(model, optimizer, loader, probe):
    for step, batch in enumerate(loader):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            preview(model, probe)
"""),
        # One last look, and the loop is left.
        Good("""\
import torch

def fit(model, optimizer, loader, probe, limit):
    model.train()
    for step, batch in enumerate(loader):
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step == limit:
            model.eval()
            with torch.no_grad():
                print(model(**probe).loss.item())
            break
"""),
        # A teacher is meant to stay as it is.
        Good("""\
import torch
from torch.nn import functional as F

def distil(student, teacher, optimizer, loader):
    for epoch in range(3):
        student.train()
        teacher.eval()
        for batch in loader:
            with torch.no_grad():
                target = teacher(**batch).logits.softmax(-1)
            loss = F.kl_div(student(**batch).logits.log_softmax(-1), target, reduction="batchmean")
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
"""),
        # Gradients flow through a judge that nobody optimizes.
        Good("""\
import torch

def fit(generator, judge, noise):
    optimizer = torch.optim.Adam(generator.parameters())
    for step in range(100):
        generator.train()
        loss = -judge(generator(noise)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        judge.eval()
    return judge.state_dict()
"""),
        # Gradients of the inputs: evaluation mode comes first, and nothing asks for another.
        Good("""\
import torch
from torch.nn import functional as F

def attack(model, images, labels, optimizer):
    for step in range(10):
        model.eval()
        loss = -F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # Each fold trains a model of its own.
        Good("""\
import torch
from torch import nn

def cross_validate(folds):
    torch.manual_seed(0)
    for training, held_out in folds:
        net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.2), nn.Linear(8, 2))
        optimizer = torch.optim.Adam(net.parameters())
        for x, y in training:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            print(sum(net(x).argmax(-1).eq(y).float().mean().item() for x, y in held_out))
"""),
        # Layers that compute the same in both modes.
        Good("""\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.LayerNorm(8), nn.Linear(8, 2))

    def forward(self, x):
        return self.layers(x)

def main(training, held_out):
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(5):
        for x, y in training:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            print(sum(net(x).argmax(-1).eq(y).float().mean().item() for x, y in held_out))
"""),
        # Somebody else's function may switch it back.
        Good("""\
import torch
from project import evaluate

def fit(model, optimizer, training, validation, epochs):
    for epoch in range(epochs):
        for batch in training:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        print(evaluate(model, validation))
"""),
        # A frozen part alone is put to evaluation.
        Good("""\
import torch

def fit(model, optimizer, loader, epochs):
    for epoch in range(epochs):
        for batch in loader:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.backbone.eval()
"""),
        # The mode comes back by way of a context manager.
        Good("""\
import contextlib

import torch

@contextlib.contextmanager
def evaluating(model):
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield model
    finally:
        model.train(was_training)

def fit(model, optimizer, training, validation):
    for epoch in range(3):
        for batch in training:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        with evaluating(model):
            print(sum(model(**batch).loss.item() for batch in validation))
"""),
        # The end of a block brings the mode back.
        Good("""\
import torch

class Evaluating:
    def __init__(self, model):
        self.model = model

    def __enter__(self):
        self.model.eval()

    def __exit__(self, *_):
        self.model.train()

def fit(model, optimizer, training, probe):
    for epoch in range(3):
        for batch in training:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        with Evaluating(model), torch.no_grad():
            print(model(**probe).loss.item())
"""),
        # Each round trains another model.
        Good("""\
import torch

def fit_all(models, optimizers, training, probe):
    for model, optimizer in zip(models, optimizers):
        for batch in training:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            print(model(**probe).loss.item())
"""),
        # One function for both, told by an argument.
        Good("""\
import torch

def run(model, loader, optimizer=None):
    model.train(optimizer is not None)
    for batch in loader:
        with torch.set_grad_enabled(optimizer is not None):
            loss = model(**batch).loss
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

def fit(model, optimizer, training, validation):
    for epoch in range(3):
        run(model, training, optimizer)
        model.eval()
        run(model, validation)
"""),
        # A loop that evaluates alone, after one that trains.
        Good("""\
import torch

def fit(model, optimizer, training, sets):
    for batch in training:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    for validation in sets:
        model.eval()
        with torch.no_grad():
            print(sum(model(**batch).loss.item() for batch in validation))
"""),
        # Both phases switch the mode; both models are switched back; each round trains another model, once.
        Good("""\
import torch
from torch import nn
from torch.nn import functional as F

def fit(loaders, epochs=10):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        for phase in ["train", "val"]:
            if phase == "train":
                model.train()
            else:
                model.eval()
            for x, y in loaders[phase]:
                with torch.set_grad_enabled(phase == "train"):
                    loss = F.cross_entropy(model(x), y)
                    if phase == "train":
                        optimizer.zero_grad()
                        loss.backward()
                        optimizer.step()
"""),
        Good("""\
import torch
from torch import nn

def fit(loader, fixed, epochs=10):
    torch.manual_seed(0)
    G = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
    D = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.1), nn.Linear(8, 1))
    g_optimizer = torch.optim.Adam(G.parameters())
    d_optimizer = torch.optim.Adam(D.parameters())
    for epoch in range(epochs):
        for m in (G, D):
            m.train()
        for real in loader:
            fake = G(torch.randn(4, 8))
            d_loss = D(fake.detach()).mean() - D(real).mean()
            d_optimizer.zero_grad()
            d_loss.backward()
            d_optimizer.step()
            g_loss = -D(fake).mean()
            g_optimizer.zero_grad()
            g_loss.backward()
            g_optimizer.step()
        for m in (G, D):
            m.eval()
        with torch.no_grad():
            print(G(fixed).mean().item(), D(G(fixed)).mean().item())
"""),
        Good("""\
import torch
from torch import nn

def compare(loader, held_out):
    torch.manual_seed(0)
    small = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1), nn.Linear(8, 1))
    large = nn.Sequential(nn.Linear(8, 64), nn.Dropout(0.1), nn.Linear(64, 1))
    for model in (small, large):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            print(model(held_out).mean().item())
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        kept = {mode.switch.record.id: mode for mode in facts.kept_modes() if is_a_fault(mode)}
        switches = facts.calls("eval")
        found = facts.where_all_chains_agree(switches, lambda call: call.record.id in kept, in_this_module=True)
        for call, place in found:
            mode = kept[call.record.id]
            model = mode.trained_as
            yield self.report(
                place,
                f"`{model}` stays in evaluation mode while the next rounds of this loop train it",
                related=[(mode.pass_.place, "trains in evaluation mode from the second round on")],
                help=f"call `{model}.train()` before it is trained again",
                fix=back_to_training(mode) if place.path == mode.switch.place.path else [],
                safe=mode.is_unconditional,
            )


def is_a_fault(mode: KeptMode) -> bool:
    return (
        mode.is_switched_back is NO
        and mode.is_meant_to_train is YES
        and mode.is_made_anew is NO
        and mode.is_the_same_in_both_modes is NO
    )


def back_to_training(mode: KeptMode) -> list[Change]:
    """`train()` after an evaluation that comes by only at times, or before the training."""
    if mode.is_one_of_several or mode.is_last_in_its_branch:
        return []  # where training begins again is not plain
    after, before = mode.after_evaluation, mode.before_training
    if after is not None and mode.switched_as is not None:
        return [InsertAfter(after.range, f"{mode.switched_as}.train()")]
    if before is not None and mode.trained_as_name is not None:
        return [InsertBefore(before.range, f"{mode.trained_as_name}.train()")]
    return []
