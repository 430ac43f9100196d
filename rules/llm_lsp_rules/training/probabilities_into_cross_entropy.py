"""LLM401 probabilities-into-cross-entropy."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class ProbabilitiesIntoCrossEntropy(Rule):
    """A loss that normalizes scores itself is given probabilities.

    `cross_entropy` takes the scores of a layer as they are and computes `log_softmax` of them;
    `binary_cross_entropy_with_logits` does the same with a sigmoid. Given probabilities, they normalize a second time.
    All values then lie between 0 and 1, so that the model can't be sure of anything: with 1,000 classes the loss of a
    perfect prediction is 5.9 instead of 0, gradients are small, and training looks like a learning rate that is too low.
    `nll_loss` wants log-probabilities; given probabilities, it is no likelihood at all. Nothing is raised.

    Give the loss the scores, and compute probabilities only where somebody reads them.

    Reported is a loss whose first argument was last changed by a softmax or sigmoid, there, earlier, in the `forward` of
    a module of the program, or by the last layer of a `Sequential`. `log_softmax` before `cross_entropy` is harmless: of
    log-probabilities it makes the same again. So are probabilities as the target.
    """

    code = "LLM401"
    severity = Severity.ERROR
    triggers = ("cross_entropy", "CrossEntropyLoss", "BCEWithLogits", "nll_loss", "NLLLoss")
    bad = [
        Bad(
            """\
import torch.nn.functional as F

def loss_of(model, tokens, labels):
    scores = model(tokens)
    probs = F.softmax(scores, dim=-1)
    return F.cross_entropy(probs.view(-1, 1000), labels.view(-1))  # <- `F.cross_entropy` is given probabilities
""",
            fixed="""\
import torch.nn.functional as F

def loss_of(model, tokens, labels):
    scores = model(tokens)
    probs = F.softmax(scores, dim=-1)
    return F.cross_entropy(scores.view(-1, 1000), labels.view(-1))
""",
        ),
        # A class whose methods share the loss; what its forward returns.
        Bad("""\
import torch
from torch import nn

class Classifier(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.hidden = nn.Linear(width, width)
        self.out = nn.Linear(width, classes)
        self.softmax = nn.Softmax(dim=1)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.softmax(self.out(torch.relu(self.hidden(x))))

    def training_step(self, batch):
        x, y = batch
        return self.criterion(self(x), y)  # <- `CrossEntropyLoss` is given probabilities
"""),
        # The last of the layers; the loss comes to the loop as an argument.
        Bad("""\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Linear(50, 1), nn.Sigmoid())
optimizer = torch.optim.Adam(model.parameters())

def epoch(model, loader, criterion):
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()  # <- `BCEWithLogitsLoss` is given probabilities
        optimizer.step()

epoch(model, [(torch.ones(4, 20), torch.ones(4, 1))], nn.BCEWithLogitsLoss())
"""),
        # A notebook; the module returns two things.
        Bad(
            {
                "toy.ipynb": [
                    """\
import torch
from torch import nn
from torch.nn import functional as F
torch.manual_seed(0)""",
                    """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return x.mean(), self.out(x).softmax(-1)""",
                    """\
net = Net()
x, y = torch.ones(2, 8), torch.tensor([0, 2])
size, out = net(x)
loss = F.cross_entropy(out, y)  # <- `F.cross_entropy` is given probabilities""",
                ]
            }
        ),
        # A helper that others give scores is at fault only here.
        Bad(
            """\
import torch
from torch.nn import functional as F

def nll(output, labels):
    return F.nll_loss(output.flatten(0, 1), labels.flatten())

def train(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        nll(torch.log_softmax(model(batch["ids"]), dim=-1), batch["labels"]).backward()
        optimizer.step()

def train_wrongly(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        nll(torch.softmax(model(batch["ids"]), dim=-1), batch["labels"]).backward()  # <- `F.nll_loss` is given probabilities
        optimizer.step()
"""
        ),
        # The fixes that are plain: of a call in the argument.
        Bad(
            """\
import torch
import torch.nn.functional as F

def losses(model, x, y, weight):
    first = F.cross_entropy(torch.softmax(model(x) / 2, dim=1).float(), y, weight=weight)  # <- given probabilities
    second = F.nll_loss(F.softmax(model(x), dim=1), y)  # <- given probabilities
    return first + second
""",
            fixed="""\
import torch
import torch.nn.functional as F

def losses(model, x, y, weight):
    first = F.cross_entropy((model(x) / 2).float(), y, weight=weight)
    second = F.nll_loss(F.log_softmax(model(x), dim=1), y)
    return first + second
""",
        ),
    ]
    good = [
        Good("""\
import torch
import torch.nn.functional as F

def loss_of(model, tokens, labels):
    scores = model(tokens)
    loss = F.cross_entropy(scores.view(-1, 1000), labels.view(-1))
    return loss, torch.multinomial(F.softmax(scores[:, -1], dim=-1), 1)
"""),
        # Log-probabilities: `cross_entropy` leaves them as they are, `nll_loss` wants them.
        Good("""\
import torch
import torch.nn.functional as F

def losses(model, x, y):
    log_probs = F.log_softmax(model(x), dim=-1)
    probs = torch.softmax(model(x), dim=-1)
    return F.cross_entropy(log_probs, y) + F.nll_loss(log_probs, y) + F.nll_loss(torch.log(probs + 1e-9), y)
"""),
        # Probabilities as the target, as in distillation.
        Good("""\
import torch
import torch.nn.functional as F

def distilled(student, teacher, x):
    with torch.no_grad():
        target = F.softmax(teacher(x) / 2, dim=-1)
    return F.cross_entropy(student(x) / 2, target) * 4
"""),
        # The module gives probabilities only where nobody trains.
        Good("""\
import torch
from torch import nn

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 3)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        scores = self.out(x)
        return scores if self.training else scores.softmax(dim=-1)

    def training_step(self, batch):
        return self.loss(self(batch["x"]), batch["y"])
"""),
        Good("""\
from torch import nn

class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 3)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, probabilities=False):
        scores = self.out(x)
        if probabilities:
            return scores.softmax(dim=-1), scores
        return scores, None

    def training_step(self, batch):
        scores, _ = self(batch["x"])
        return self.loss(scores, batch["y"])
"""),
        # The binary loss on probabilities is the one without `with_logits`.
        Good("""\
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 1), nn.Sigmoid())
loss = nn.BCELoss()(model(torch.ones(4, 20)), torch.ones(4, 1))
both = nn.BCEWithLogitsLoss()(model[0](torch.ones(4, 20)), torch.ones(4, 1))
"""),
        # A softmax in the middle: attention, a gate, a temperature that follows.
        Good("""\
import torch
import torch.nn.functional as F

def loss_of(query, key, value, out, labels, scale):
    weights = F.softmax(query @ key.transpose(-1, -2), dim=-1)
    gate = torch.sigmoid(query)
    pooled = (weights @ value) * gate
    return F.cross_entropy(out(pooled), labels) + F.cross_entropy(gate * scale, labels)
"""),
        # Nobody knows what comes out of these.
        Good("""\
import torch.nn.functional as F
from models import Net, head

def losses(model, x, y, normalize):
    scores = normalize(model(x))
    if model.is_calibrated:
        scores = F.softmax(scores, dim=-1)
    return F.cross_entropy(scores, y) + F.cross_entropy(Net()(x), y) + F.cross_entropy(head(F.softmax(x, dim=-1)), y)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        losses = {loss.call.record.id: loss for loss in facts.score_losses()}
        calls = [loss.call for loss in losses.values()]
        faulty = {id for id, loss in losses.items() if loss.is_given_probabilities is YES}
        for call, place in facts.where_all_chains_agree(calls, lambda call: call.record.id in faulty):
            loss = losses[call.record.id]
            made = loss.first.call if loss.first is not None else call
            change = loss.as_logarithms if loss.takes_logarithms else loss.without_normalization
            wanted = "log-probabilities" if loss.takes_logarithms else "the scores, which it normalizes itself"
            yield self.report(
                place,
                f"`{loss.name}` is given probabilities that `{made.callee}` made",
                related=[(made.place, "made here")],
                help=f"give `{loss.name}` {wanted}",
                fix=[Replace(*change)] if change is not None and place == call.place else (),
            )
