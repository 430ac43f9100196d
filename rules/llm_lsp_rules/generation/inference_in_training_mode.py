"""LLM211 inference-in-training-mode."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Change, Facts, Good, Inference, InsertBefore, Report, Rule, Severity


class InferenceInTrainingMode(Rule):
    """A model is asked for results while it is in training mode, so that dropout changes them.

    Torch makes modules in training mode, and `from_config` leaves them there; so does `train()` until somebody calls
    `eval()`. In that mode dropout switches some units off at random and batch normalisation goes by the batch at hand: the
    same input gives another answer each time, and metrics come out too low. `torch.no_grad()` is about memory and
    changes nothing of this.

    What `from_pretrained` loads is in evaluation mode already, and a layer such as `Linear` doesn't care: only models
    are reported that are known to hold layers that do. A model that the program trains is reported where the name of
    the function or of the loader says that it is being evaluated, since a policy is run in training mode on purpose.
    Nothing is said of what calls `train()` and trains nothing, which is how dropout is used to estimate uncertainty.
    """

    code = "LLM211"
    severity = Severity.WARNING
    triggers = ("load_state_dict", ".backward")
    bad = [
        Bad(
            """\
import sys
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

config = AutoConfig.from_pretrained("bert-base-uncased", num_labels=3)
model = AutoModelForSequenceClassification.from_config(config)
model.load_state_dict(torch.load(sys.argv[1], weights_only=True))
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
inputs = tokenizer(sys.argv[2], return_tensors="pt")
with torch.no_grad():
    print(model(**inputs).logits.softmax(-1))  # <- `model` is still in training mode
""",
            fixed="""\
import sys
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

config = AutoConfig.from_pretrained("bert-base-uncased", num_labels=3)
model = AutoModelForSequenceClassification.from_config(config)
model.load_state_dict(torch.load(sys.argv[1], weights_only=True))
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
inputs = tokenizer(sys.argv[2], return_tensors="pt")
with torch.no_grad():
    model.eval()
    print(model(**inputs).logits.softmax(-1))
""",
        ),
        # The loader's name says what the second loop is for.
        Bad(
            """\
import torch
from torch import nn

class Classifier(nn.Module):
    def __init__(self, width, classes, dropout=0.1):
        super().__init__()
        self.hidden = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.dropout(self.hidden(x)))

def fit(train_loader, val_loader, epochs):
    torch.manual_seed(1)
    model = Classifier(300, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(epochs):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        right = 0
        with torch.no_grad():
            for x, y in val_loader:
                right += (model(x).argmax(-1) == y).sum().item()  # <- `model` is still in training mode
        print(epoch, right)
"""
        ),
        # The evaluation is a function of its own; the object is called in it by another name.
        Bad(
            """\
import torch
from torch import nn

class Tagger(nn.Module):
    def __init__(self, width, tags):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, tags)

    def forward(self, x):
        return self.head(self.norm(self.encoder(x).mean(1)))

@torch.no_grad()
def validate(network, batches):
    return sum((network(x).argmax(-1) == y).float().mean().item() for x, y in batches)  # <- `network` is still in training mode

def main(batches, held_out):
    torch.manual_seed(1)
    model = Tagger(64, 9)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    print(validate(model, held_out))
"""
        ),
        # In cells.
        Bad(
            {
                "answers.ipynb": [
                    "import torch\nfrom transformers import BertConfig, BertForSequenceClassification",
                    (
                        "model = BertForSequenceClassification(BertConfig(num_labels=2))\n"
                        'model.load_state_dict(torch.load("weights.pt", weights_only=True))'
                    ),
                    (
                        "with torch.inference_mode():\n"
                        "    print(model(input_ids=torch.ones(1, 8, dtype=torch.long)).logits)  # <- `model` is still in training mode"
                    ),
                ]
            },
            fixed={
                "answers.ipynb": [
                    "import torch\nfrom transformers import BertConfig, BertForSequenceClassification",
                    (
                        "model = BertForSequenceClassification(BertConfig(num_labels=2))\n"
                        'model.load_state_dict(torch.load("weights.pt", weights_only=True))'
                    ),
                    (
                        "with torch.inference_mode():\n"
                        "    model.eval()\n"
                        "    print(model(input_ids=torch.ones(1, 8, dtype=torch.long)).logits)"
                    ),
                ]
            },
        ),
    ]
    good = [
        # It is in evaluation mode by then.
        Good(
            """\
import sys
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification

def load(weights):
    config = AutoConfig.from_pretrained("bert-base-uncased", num_labels=3)
    model = AutoModelForSequenceClassification.from_config(config)
    model.load_state_dict(torch.load(weights, weights_only=True))
    return model.eval()

model = load(sys.argv[1])
with torch.no_grad():
    print(model(input_ids=torch.ones(1, 8, dtype=torch.long)).logits)
"""
        ),
        # `from_pretrained` leaves it in evaluation mode; loading further weights changes no mode.
        Good(
            """\
import torch
from transformers import AutoModel

encoder = AutoModel.from_pretrained("bert-base-uncased")
encoder.load_state_dict(torch.load("adapted.pt", weights_only=True), strict=False)
with torch.no_grad():
    print(encoder(input_ids=torch.ones(1, 8, dtype=torch.long)).last_hidden_state.norm())
"""
        ),
        # Nothing in it asks for the mode, or it drops nothing.
        Good(
            """\
import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM

class Probe(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, 2)
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        return self.head(self.dropout(x))

probe = Probe(64)
probe.load_state_dict(torch.load("probe.pt", weights_only=True))
llama = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained("meta-llama/Llama-2-7b-hf"))
llama.load_state_dict(torch.load("llama.pt", weights_only=True))
bert = AutoModelForCausalLM.from_config(
    AutoConfig.from_pretrained("gpt2", attn_pdrop=0.0, resid_pdrop=0.0, embd_pdrop=0.0)
)
bert.load_state_dict(torch.load("gpt2.pt", weights_only=True))
with torch.no_grad():
    print(probe(torch.ones(3, 64)))
    print(llama(input_ids=torch.ones(1, 8, dtype=torch.long)).logits.argmax(-1))
    print(bert(input_ids=torch.ones(1, 8, dtype=torch.long)).logits.argmax(-1))
"""
        ),
        # Dropout goes on on purpose.
        Good(
            """\
import torch
from torch import nn

class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))

    def forward(self, x):
        return self.body(x)

def predict_with_uncertainty(model, x, times=30):
    model.train()
    with torch.no_grad():
        samples = torch.stack([model(x) for _ in range(times)])
    return samples.mean(0), samples.std(0)

def mc_dropout(x):
    model = Regressor()
    model.load_state_dict(torch.load("regressor.pt", weights_only=True))
    with torch.no_grad():
        return torch.stack([model(x) for _ in range(30)]).std(0)

regressor = Regressor()
regressor.load_state_dict(torch.load("regressor.pt", weights_only=True))
print(predict_with_uncertainty(regressor, torch.ones(1, 8)))
"""
        ),
        # A policy is run without gradients in the mode in which it is trained, and running statistics are gathered so.
        Good(
            """\
import torch
from torch import nn

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.Dropout(0.1), nn.BatchNorm1d(32), nn.Linear(32, 4))

    def forward(self, x):
        return self.body(x)

def train_policy(batches):
    torch.manual_seed(1)
    policy = Policy()
    optimizer = torch.optim.AdamW(policy.parameters())
    for states, actions, rewards in batches:
        with torch.no_grad():
            old = policy(states).log_softmax(-1).gather(-1, actions)
        new = policy(states).log_softmax(-1).gather(-1, actions)
        loss = -((new - old).exp() * rewards).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for states, _, _ in batches:
            policy(states)
    policy.eval()
    return policy
"""
        ),
        # Somebody else may have switched it.
        Good(
            """\
import torch
from torch import nn
from toolbox import prepare

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.drop(x))

net = Net()
net.load_state_dict(torch.load("net.pt", weights_only=True))
prepare(net)
with torch.no_grad():
    print(net(torch.ones(1, 8)))
"""
        ),
        # Its weights are worth nothing yet: a look at shapes.
        Good(
            """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 2))
with torch.no_grad():
    print(net(torch.ones(1, 8)).shape)
saved = torch.load("net.pt", weights_only=True)
net.load_state_dict(saved)
net.eval()
"""
        ),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        every = list(facts.inferences())
        found = {one.call.record.id: one for one in every if is_a_fault(one)}
        calls = [one.call for one in every]
        for call, place in facts.where_all_chains_agree(calls, lambda call: call.record.id in found):
            one = found[call.record.id]
            switched = one.switched_on or one.made
            yield self.report(
                place,
                f"`{call.callee}` is still in training mode: dropout and batch normalisation change the result",
                related=[(switched, "in training mode since here")] if switched is not None else [],
                help=f"call `{call.callee}.eval()` before",
                fix=evaluation_mode(one) if place == call.place else [],
            )


def is_a_fault(inference: Inference) -> bool:
    return (
        inference.is_in_training_mode is YES
        and inference.differs_by_mode is YES
        and inference.is_of_what_was_learned is YES
        and inference.call.is_in_a_test is False
    )


def evaluation_mode(inference: Inference) -> list[Change]:
    """`eval()` before the call, where nothing trains the model afterwards."""
    call = inference.call
    is_plain = all(part.isidentifier() for part in call.callee.split("."))
    is_settled = call.model_is_trained is NO and not call.is_in_a_loop
    return [InsertBefore(call.place.range, f"{call.callee}.eval()")] if is_plain and is_settled else []
