"""LLM308 graph-kept-by-sum."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class GraphKeptBySum(Rule):
    """A running sum of losses holds on to the graph of every step that it has seen.

    A loss is the end of a graph: the operations that it was computed by, back to the parameters. `total += loss`
    makes the sum the end of a longer one, which nothing frees while the sum is alive. Gradients were computed of each
    loss by itself, so nobody needs it; `backward` frees the activations, but the nodes of the graph stay, and so does
    everything on ways that `backward` did not take. Memory grows with every step until the epoch ends or the machine
    runs out.

    Add `loss.detach()`: the sum stays a tensor on the device, so that a later `total.item()` or `all_reduce(total)`
    works as before, and no step waits for the GPU as it would for `.item()`.

    Reported is a sum that goes on from round to round of a loop, if gradients are computed of what is added and not
    of the sum. A sum that reaches a `backward`, such as one over the tasks of a step, is right as it is; where
    gradients are off, no graph is built; and a sum over the micro-batches of one step ends with the step.
    """

    code = "LLM308"
    severity = Severity.WARNING
    triggers = ("backward", "training_step", "compute_loss")
    bad = [
        # A function that trains.
        Bad(
            """\
import torch

def train(model, loader, optimizer):
    model.train()
    train_loss = 0.0
    for batch in loader:
        output = model(**batch)
        train_loss += output.loss  # <- `train_loss` keeps the graph of every `output.loss` that is added to it
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.step()
    return train_loss / len(loader)
""",
            fixed="""\
import torch

def train(model, loader, optimizer):
    model.train()
    train_loss = 0.0
    for batch in loader:
        output = model(**batch)
        train_loss += output.loss.detach()
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.step()
    return train_loss / len(loader)
""",
        ),
        # Epochs of batches, scaled by the size of the batch; the other sums are numbers.
        Bad(
            """\
import torch
from torch import nn

def fit(model, loader, optimizer, epochs=3):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        running, hits = 0.0, 0
        for inputs, labels in loader:
            optimizer.zero_grad()
            logits = model(inputs)
            loss = criterion(logits, labels)
            loss.backward()
            optimizer.step()
            running = running + loss * inputs.size(0)  # <- `running` keeps the graph of every `loss`
            hits += (logits.argmax(-1) == labels).sum().item()
        print(epoch, running.item(), hits)
""",
            fixed="""\
import torch
from torch import nn

def fit(model, loader, optimizer, epochs=3):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        running, hits = 0.0, 0
        for inputs, labels in loader:
            optimizer.zero_grad()
            logits = model(inputs)
            loss = criterion(logits, labels)
            loss.backward()
            optimizer.step()
            running = running + loss.detach() * inputs.size(0)
            hits += (logits.argmax(-1) == labels).sum().item()
        print(epoch, running.item(), hits)
""",
        ),
        # A class whose methods share the sum.
        Bad(
            """\
import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.total = 0.0

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()
        self.total += loss  # <- `self.total` keeps the graph of every `loss`

    def fit(self, loader):
        self.model.train()
        for batch in loader:
            self.step(batch)
        print(self.total.item() / len(loader))
""",
            fixed="""\
import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer
        self.total = 0.0

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()
        self.total += loss.detach()

    def fit(self, loader):
        self.model.train()
        for batch in loader:
            self.step(batch)
        print(self.total.item() / len(loader))
""",
        ),
        # A helper trains and returns its loss.
        Bad(
            """\
def step(model, batch, optimizer, scaler):
    loss = model(**batch).loss
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return loss

def train(model, loader, optimizer, scaler):
    model.train()
    total = 0
    for batch in loader:
        total += step(model, batch, optimizer, scaler)  # <- `total` keeps the graph of every
    print(total / len(loader))
""",
            fixed="""\
def step(model, batch, optimizer, scaler):
    loss = model(**batch).loss
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    return loss

def train(model, loader, optimizer, scaler):
    model.train()
    total = 0
    for batch in loader:
        total += step(model, batch, optimizer, scaler).detach()
    print(total / len(loader))
""",
        ),
        # A meter is handed the loss; another use of it is right.
        Bad(
            """\
import torch

class Meter:
    def __init__(self):
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

def run(model, loader, held_out, optimizer, accelerator):
    losses, scores = Meter(), Meter()
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.update(loss, len(batch))  # <- `self.sum` keeps the graph of every `loss`
    model.eval()
    with torch.no_grad():
        for batch in held_out:
            scores.update(model(**batch).loss, len(batch))
    return losses.sum, scores.sum
""",
            fixed="""\
import torch

class Meter:
    def __init__(self):
        self.sum = 0.0
        self.count = 0

    def update(self, value, n=1):
        self.sum += value * n
        self.count += n

def run(model, loader, held_out, optimizer, accelerator):
    losses, scores = Meter(), Meter()
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        losses.update(loss.detach(), len(batch))
    model.eval()
    with torch.no_grad():
        for batch in held_out:
            scores.update(model(**batch).loss, len(batch))
    return losses.sum, scores.sum
""",
        ),
        # Parts of the loss, in a dictionary and a variable of their own.
        Bad(
            """\
import torch
import torch.nn.functional as F

def distil(student, teacher, loader, optimizer):
    student.train()
    sums = {"hard": 0.0, "soft": 0.0}
    for ids, labels in loader:
        logits = student(ids)
        with torch.no_grad():
            wanted = teacher(ids)
        hard = F.cross_entropy(logits, labels)
        soft = F.mse_loss(logits, wanted)
        (hard + 0.5 * soft).backward()
        optimizer.step()
        optimizer.zero_grad()
        sums["hard"] += hard  # <- `sums["hard"]` keeps the graph of every `hard`
        sums["soft"] += soft.item()
    return sums
""",
            fixed="""\
import torch
import torch.nn.functional as F

def distil(student, teacher, loader, optimizer):
    student.train()
    sums = {"hard": 0.0, "soft": 0.0}
    for ids, labels in loader:
        logits = student(ids)
        with torch.no_grad():
            wanted = teacher(ids)
        hard = F.cross_entropy(logits, labels)
        soft = F.mse_loss(logits, wanted)
        (hard + 0.5 * soft).backward()
        optimizer.step()
        optimizer.zero_grad()
        sums["hard"] += hard.detach()
        sums["soft"] += soft.item()
    return sums
""",
        ),
        # Cells of a notebook.
        Bad(
            {
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM\n\n"
                        "model = AutoModelForCausalLM.from_pretrained('gpt2').train()\n"
                        "optimizer = torch.optim.AdamW(model.parameters())"
                    ),
                    (
                        "total = 0\nfor batch in loader:\n    loss = model(**batch).loss\n    loss.backward()\n"
                        "    optimizer.step()\n    optimizer.zero_grad()\n    total += loss  # <- `total` keeps the graph"
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    (
                        "import torch\nfrom transformers import AutoModelForCausalLM\n\n"
                        "model = AutoModelForCausalLM.from_pretrained('gpt2').train()\n"
                        "optimizer = torch.optim.AdamW(model.parameters())"
                    ),
                    (
                        "total = 0\nfor batch in loader:\n    loss = model(**batch).loss\n    loss.backward()\n"
                        "    optimizer.step()\n    optimizer.zero_grad()\n    total += loss.detach()"
                    ),
                ]
            },
        ),
        # Up to a hundred graphs are kept until they are shown.
        Bad(
            """\
def train(model, loader, optimizer):
    model.train()
    running = 0.0
    for index, batch in enumerate(loader, start=1):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        running += loss  # <- `running` keeps the graph of every `loss`
        if index % 100 == 0:
            print(running.item() / 100)
            running = 0.0
""",
            fixed="""\
def train(model, loader, optimizer):
    model.train()
    running = 0.0
    for index, batch in enumerate(loader, start=1):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        running += loss.detach()
        if index % 100 == 0:
            print(running.item() / 100)
            running = 0.0
""",
        ),
        # Lightning computes the gradients of what `training_step` returns.
        Bad(
            """\
import lightning as L
from transformers import AutoModelForCausalLM

class Tuner(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2")
        self.epoch_loss = 0.0

    def training_step(self, batch, index):
        loss = self.model(**batch).loss
        self.epoch_loss += loss  # <- `self.epoch_loss` keeps the graph of every `loss`
        return loss

    def on_train_epoch_end(self):
        self.log("epoch_loss", self.epoch_loss)
        self.epoch_loss = 0.0
""",
            fixed="""\
import lightning as L
from transformers import AutoModelForCausalLM

class Tuner(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2")
        self.epoch_loss = 0.0

    def training_step(self, batch, index):
        loss = self.model(**batch).loss
        self.epoch_loss += loss.detach()
        return loss

    def on_train_epoch_end(self):
        self.log("epoch_loss", self.epoch_loss)
        self.epoch_loss = 0.0
""",
        ),
    ]
    good = [
        # A function adds to what it is given, and that begins anew in each round.
        Good("""\
def plus(total, loss):
    total += loss
    return total

def train(model, loader, optimizer):
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(plus(0.0, loss).item())
"""),
        # What a loss returns beside the loss is for the log.
        Good("""\
def train(model, compute_loss, loader, optimizer):
    model.train()
    mean = 0.0
    for index, batch in enumerate(loader):
        loss, items = compute_loss(model(batch), batch)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        mean = (mean * index + items) / (index + 1)
    return mean
"""),
        # What is added has no graph.
        Good("""\
def train(model, loader, optimizer):
    model.train()
    total, same, other, last = 0.0, 0.0, 0.0, 0.0
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss.item()
        same += loss.detach() * len(batch)
        other += float(loss)
        last += loss.data
    return total, same, other, last
"""),
        # The sum is what gradients are computed of: tasks of one step, a penalty in a helper, an episode, micro-batches.
        Good("""\
def penalty(output):
    value = output.start_logits.square().mean()
    value += output.end_logits.square().mean()
    return value

def train(model, heads, loader, optimizer):
    model.train()
    for batch in loader:
        output = model(**batch)
        loss = 0
        for head in heads:
            loss += head(output.last_hidden_state).mean()
        loss = loss + penalty(output)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""),
        Good("""\
def adapt(model, tasks, optimizer, accelerator):
    model.train()
    meta_loss = 0.0
    for task in tasks:
        meta_loss += model(**task).loss
    accelerator.backward(meta_loss / len(tasks))
    optimizer.step()
    optimizer.zero_grad()
"""),
        Good("""\
import torch

def reinforce(policy, optimizer, episodes):
    policy.train()
    for states, rewards in episodes:
        loss, entropy = torch.zeros(()), torch.zeros(())
        for state, reward in zip(states, rewards):
            scores = policy(state).log_softmax(-1)
            loss = loss - scores.max() * reward
            entropy = entropy + (scores * scores.exp()).sum()
        (loss + 0.01 * entropy).backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # The sum is left behind, or its graph is, before the next round.
        Good("""\
def train(model, loader, optimizer, log):
    model.train()
    shown = 0.0
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        both = 0.0
        both += loss
        log(both.item())
        shown = 0.9 * shown + 0.1 * loss.item()
        average = shown + loss
        log(average.item())
"""),
        Good("""\
def train(model, loader, optimizer):
    model.train()
    total = 0.0
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss
        total = total.detach()
    return total
"""),
        # Gradients are off where it is added, or where it is computed.
        Good("""\
import torch

def train(model, loader, held_out, optimizer):
    total = torch.zeros((), device="cuda")
    for epoch in range(3):
        model.train()
        for batch in loader:
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            with torch.no_grad():
                total += loss
        model.eval()
        val_loss = 0.0
        with torch.no_grad():
            for batch in held_out:
                loss = model(**batch).loss
                val_loss += loss
        print(epoch, val_loss / len(held_out))
    return total
"""),
        # The sum over the micro-batches of a step ends with the step.
        Good("""\
def train(model, loader, optimizer, log, accumulation=4):
    model.train()
    running = 0
    for index, batch in enumerate(loader, start=1):
        loss = model(**batch).loss / accumulation
        running += loss
        loss.backward()
        if index % accumulation == 0:
            optimizer.step()
            optimizer.zero_grad()
            log(running.item())
            running = 0
"""),
        # Counts and other parts of a result, of which no gradients are computed.
        Good("""\
def train(net, loader, optimizer):
    net.train()
    hits, seen, tokens = 0, 0, 0
    for inputs, labels in loader:
        loss, correct = net(inputs, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        hits += correct
        seen += labels.size(0)
        tokens += (labels != -100).sum()
    return hits / seen, tokens
"""),
        # A helper that detaches what it returns; one that nobody sees.
        Good("""\
from losses import training_step

def step(model, batch, optimizer):
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()

def train(model, loader, optimizer):
    model.train()
    total = other = 0
    for batch in loader:
        total += step(model, batch, optimizer)
        other += training_step(model, batch, optimizer)
    return total, other
"""),
        # A meter that takes numbers.
        Good("""\
class Meter:
    def __init__(self):
        self.sum = 0.0

    def update(self, value):
        self.sum += value

def train(model, loader, optimizer):
    losses = Meter()
    model.train()
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.update(loss.item())
    return losses.sum
"""),
        # Texts and lists grow, too.
        Good("""\
def train(model, loader, optimizer, tokenizer):
    model.train()
    lines, seen = "", []
    for batch in loader:
        output = model(**batch)
        output.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        lines += tokenizer.decode(output.logits.argmax(-1)[0])
        seen += [output.loss.item()]
    return lines, seen
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[object] = set()
        for total in facts.running_sums():
            place = total.place
            if total.keeps_graph is not YES or place in seen:
                continue
            seen.add(place)
            term = total.term
            what = f"every `{term.text}`" if term is not None and "\n" not in term.text else "everything"
            yield self.report(
                place,
                f"`{total.total}` keeps the graph of {what} that is added to it",
                help="add it detached",
                fix=[Replace(term.range, f"{term.text}.detach()")] if term is not None else (),
                fix_message="detach what is added",
                safe=True,
            )
