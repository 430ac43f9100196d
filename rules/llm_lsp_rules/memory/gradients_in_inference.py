"""LLM301 gradients-in-inference."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import (
    UNKNOWN,
    YES,
    Bad,
    Call,
    Change,
    Decorate,
    EnsureImport,
    Extent,
    Facts,
    Good,
    Report,
    Rule,
    Severity,
    Wrap,
)


class GradientsInInference(Rule):
    """A forward pass builds a graph for gradients that nobody computes.

    With gradients on, every forward keeps the activations of all its layers until its result goes away, since a
    `backward` may come. In evaluation, metrics, embedding and serving none comes: the memory is a multiple of what is
    needed, and batches that fitted into training stop fitting into its evaluation. `model.eval()` does not help: it
    switches dropout and normalisation, not gradients.

    Run such code under `torch.no_grad()`, as a decorator or as a block, or under `torch.inference_mode()` where no
    result enters training later. `generate` and `pipeline` switch gradients off themselves. On an `async def` the
    decorator does nothing, since it is left before the body runs: use a block inside.

    Reported is a forward of a model that has learned, or is put to evaluation, if its result reaches no `backward`
    and neither the code around it nor a caller switches gradients off. Where a result goes out of sight it is
    reported only if the model is in evaluation mode and the result is merely returned.
    """

    code = "LLM301"
    severity = Severity.WARNING
    triggers = (
        "eval()",
        "from_pretrained",
        "state_dict",
        ".train(",
        "backward(",
        "parameters(",
        "generate(",
        "requires_grad_",
    )
    bad = [
        # A helper in a module of its own.
        Bad(
            {
                "engine.py": """\
import torch

def score(model, batch):
    model.eval()
    return model(batch["input_ids"]).argmax(-1).tolist()  # <- for gradients that nobody computes
""",
                "main.py": """\
from transformers import AutoModelForSequenceClassification

from engine import score

if __name__ == "__main__":
    model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased-finetuned-sst-2-english")
    print(score(model, {}))
""",
            },
            fixed={
                "engine.py": """\
import torch

@torch.no_grad()
def score(model, batch):
    model.eval()
    return model(batch["input_ids"]).argmax(-1).tolist()
""",
                "main.py": """\
from transformers import AutoModelForSequenceClassification

from engine import score

if __name__ == "__main__":
    model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased-finetuned-sst-2-english")
    print(score(model, {}))
""",
            },
        ),
        # A function that evaluates.
        Bad(
            """\
import torch

def evaluate(model, loader):
    model.eval()
    hits = 0
    for batch in loader:
        logits = model(batch["input_ids"])  # <- `model` builds a graph here for gradients that nobody computes
        hits += (logits.argmax(-1) == batch["labels"]).sum().item()
    return hits
""",
            fixed="""\
import torch

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits = 0
    for batch in loader:
        logits = model(batch["input_ids"])
        hits += (logits.argmax(-1) == batch["labels"]).sum().item()
    return hits
""",
        ),
        # A loop of a script, which has no function to decorate.
        Bad(
            """\
import sys

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

checkpoint = "distilbert-base-uncased-finetuned-sst-2-english"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForSequenceClassification.from_pretrained(checkpoint)
for line in sys.stdin:
    encoded = tokenizer(line.strip(), return_tensors="pt")
    scores = model(**encoded).logits.softmax(-1)  # <- gradients that nobody computes
    print(scores.max().item())
""",
            fixed="""\
import sys

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

checkpoint = "distilbert-base-uncased-finetuned-sst-2-english"
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForSequenceClassification.from_pretrained(checkpoint)
with torch.no_grad():
    for line in sys.stdin:
        encoded = tokenizer(line.strip(), return_tensors="pt")
        scores = model(**encoded).logits.softmax(-1)
        print(scores.max().item())
""",
        ),
        # Cells of a notebook.
        Bad(
            {
                "explore.ipynb": [
                    "from transformers import AutoModel\n\nmodel = AutoModel.from_pretrained('bert-base-uncased')",
                    "import torch\n\nids = torch.tensor([[101, 7592, 102]])",
                    "states = model(ids).last_hidden_state  # <- gradients that nobody computes\nstates.mean().item()",
                ]
            },
            fixed={
                "explore.ipynb": [
                    "from transformers import AutoModel\n\nmodel = AutoModel.from_pretrained('bert-base-uncased')",
                    "import torch\n\nids = torch.tensor([[101, 7592, 102]])",
                    "with torch.no_grad():\n    states = model(ids).last_hidden_state\nstates.mean().item()",
                ]
            },
        ),
        # A helper that training and evaluation share is at fault in the evaluation.
        Bad(
            """\
import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def loss(self, batch):
        return self.model(**batch).loss

    def train(self, loader):
        self.model.train()
        for batch in loader:
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def evaluate(self, loader):
        self.model.eval()
        return sum(self.loss(batch).item() for batch in loader)  # <- `self.model` builds a graph here
""",
            fixed="""\
import torch

class Trainer:
    def __init__(self, model, optimizer):
        self.model = model
        self.optimizer = optimizer

    def loss(self, batch):
        return self.model(**batch).loss

    def train(self, loader):
        self.model.train()
        for batch in loader:
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        return sum(self.loss(batch).item() for batch in loader)
""",
        ),
        # A handler of a service; its route stays outermost.
        Bad(
            """\
import torch
from fastapi import FastAPI
from transformers import AutoModelForSequenceClassification

app = FastAPI()
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert")

@app.post("/score")
def score(ids: list[int]):
    logits = model(torch.tensor([ids])).logits  # <- gradients that nobody computes
    return {"label": logits.argmax(-1).item()}
""",
            fixed="""\
import torch
from fastapi import FastAPI
from transformers import AutoModelForSequenceClassification

app = FastAPI()
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert")

@app.post("/score")
@torch.no_grad()
def score(ids: list[int]):
    logits = model(torch.tensor([ids])).logits
    return {"label": logits.argmax(-1).item()}
""",
        ),
        # A command of a group.
        Bad(
            """\
import click
import torch
from transformers import AutoModel

@click.group()
def cli():
    \"\"\"Looks into models.\"\"\"

@cli.command()
@click.argument("ids", nargs=-1, type=int)
def mean(ids):
    model = AutoModel.from_pretrained("bert-base-uncased")
    states = model(torch.tensor([ids])).last_hidden_state  # <- gradients that nobody computes
    print(states.mean().item())
""",
            fixed="""\
import click
import torch
from transformers import AutoModel

@click.group()
def cli():
    \"\"\"Looks into models.\"\"\"

@cli.command()
@click.argument("ids", nargs=-1, type=int)
@torch.no_grad()
def mean(ids):
    model = AutoModel.from_pretrained("bert-base-uncased")
    states = model(torch.tensor([ids])).last_hidden_state
    print(states.mean().item())
""",
        ),
        # A coroutine: its decorator does nothing, and other tasks run wherever it waits.
        Bad(
            """\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased")

@torch.inference_mode()
async def warm_up(source):
    ids = await source.read()
    states = model(torch.tensor([ids])).last_hidden_state  # <- gradients that nobody computes
    return states.mean(dim=1).tolist()
""",
            fixed="""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased")

@torch.inference_mode()
async def warm_up(source):
    ids = await source.read()
    with torch.no_grad():
        states = model(torch.tensor([ids])).last_hidden_state
    return states.mean(dim=1).tolist()
""",
        ),
        # An embedding that is returned: the model is in evaluation mode and nobody here trains it.
        Bad(
            """\
from transformers import AutoModel

class Embedder:
    def __init__(self, name):
        self.encoder = AutoModel.from_pretrained(name).eval()

    def embed(self, batch):
        return self.encoder(**batch).last_hidden_state[:, 0]  # <- `self.encoder` builds a graph here
""",
            fixed="""\
import torch
from transformers import AutoModel

class Embedder:
    def __init__(self, name):
        self.encoder = AutoModel.from_pretrained(name).eval()

    @torch.no_grad()
    def embed(self, batch):
        return self.encoder(**batch).last_hidden_state[:, 0]
""",
        ),
        # `eval()` is taken for `no_grad()` in the middle of training: only the validation goes under the block.
        Bad(
            """\
import torch as t

def fit(model, optimizer, training, validation):
    for epoch in range(3):
        model.train()
        for batch in training:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        total = 0.0
        for batch in validation:
            total += model(**batch).loss.item()  # <- gradients that nobody computes
        print(epoch, total)
""",
            fixed="""\
import torch as t

def fit(model, optimizer, training, validation):
    for epoch in range(3):
        model.train()
        for batch in training:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        total = 0.0
        with t.no_grad():
            for batch in validation:
                total += model(**batch).loss.item()
        print(epoch, total)
""",
        ),
        # A generator: torch switches gradients each time it goes on.
        Bad(
            """\
from torch import no_grad

def predictions(model, loader):
    model.eval()
    for batch in loader:
        yield from model(**batch).logits.argmax(-1).tolist()  # <- gradients that nobody computes
""",
            fixed="""\
from torch import no_grad

@no_grad()
def predictions(model, loader):
    model.eval()
    for batch in loader:
        yield from model(**batch).logits.argmax(-1).tolist()
""",
        ),
        # Gradients are on again inside.
        Bad(
            """\
import torch

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    for batch in loader:
        with torch.enable_grad():
            logits = model(**batch).logits  # <- gradients that nobody computes
        print(logits.argmax(-1).tolist())
""",
            fixed="""\
import torch

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    for batch in loader:
        with torch.enable_grad():
            with torch.no_grad():
                logits = model(**batch).logits
        print(logits.argmax(-1).tolist())
""",
        ),
        # The metric switches gradients off for itself alone.
        Bad(
            """\
import torch

def accuracy(logits, labels):
    with torch.no_grad():
        return (logits.argmax(-1) == labels).float().mean().item()

def evaluate(model, loader):
    model.eval()
    for batch in loader:
        logits = model(batch["input_ids"])  # <- gradients that nobody computes
        print(accuracy(logits, batch["labels"]))
""",
            fixed="""\
import torch

def accuracy(logits, labels):
    with torch.no_grad():
        return (logits.argmax(-1) == labels).float().mean().item()

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    for batch in loader:
        logits = model(batch["input_ids"])
        print(accuracy(logits, batch["labels"]))
""",
        ),
    ]
    good = [
        # Another module of the project holds the context.
        Good(
            {
                "engine.py": """\
def score(model, batch):
    model.eval()
    return model(batch["input_ids"]).argmax(-1).tolist()
""",
                "main.py": """\
import torch
from transformers import AutoModelForSequenceClassification

from engine import score

def main(batches):
    model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased-finetuned-sst-2-english")
    with torch.no_grad():
        print([score(model, batch) for batch in batches])

if __name__ == "__main__":
    main([])
""",
            }
        ),
        # Gradients are off: by a block, a decorator, a statement, a caller, and among other contexts.
        Good("""\
import torch

def evaluate(model, loader):
    model.eval()
    with torch.inference_mode():
        for batch in loader:
            print(model(batch["input_ids"]).argmax(-1))
"""),
        Good("""\
import torch

@torch.no_grad
def evaluate(model, loader):
    model.eval()
    return [model(**batch).loss.item() for batch in loader]
"""),
        Good("""\
import torch
from transformers import AutoModel

torch.set_grad_enabled(False)
model = AutoModel.from_pretrained("bert-base-uncased")
print(model(torch.tensor([[101, 102]])).last_hidden_state.mean().item())
"""),
        Good("""\
import torch

def predict(model, batch):
    model.eval()
    return model(**batch).logits.argmax(-1)

def main(model, loader):
    with torch.no_grad():
        for batch in loader:
            print(predict(model, batch))
"""),
        Good("""\
import torch

def evaluate(model, loader, accelerator):
    model.eval()
    with torch.no_grad(), torch.autocast("cuda"):
        for batch in loader:
            labels = accelerator.gather_for_metrics(model(**batch).logits.argmax(-1))
            print(labels.tolist())
"""),
        Good("""\
import torch

def run_epoch(model, loader, optimizer, is_training):
    model.train() if is_training else model.eval()
    with torch.set_grad_enabled(is_training):
        for batch in loader:
            loss = model(**batch).loss
            if is_training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
"""),
        Good("""\
import torch

@torch.no_grad()
def predictions(model, loader):
    model.eval()
    for batch in loader:
        yield model(**batch).logits.argmax(-1)
"""),
        # So does a group of commands, before any of them runs.
        Good("""\
import click
import torch
from transformers import AutoModel

@click.group()
def cli():
    torch.set_grad_enabled(False)

@cli.command()
def mean():
    model = AutoModel.from_pretrained("bert-base-uncased").eval()
    print(model(torch.tensor([[101, 102]])).last_hidden_state.mean().item())
"""),
        # The library switches gradients off.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, pipeline

model = AutoModelForCausalLM.from_pretrained("gpt2").eval()
print(model.generate(torch.tensor([[50256]]), max_new_tokens=5))
print(pipeline("text-classification")("fine"))
"""),
        Good("""\
from sentence_transformers import SentenceTransformer

model = SentenceTransformer("all-MiniLM-L6-v2").eval()
print(model.encode(["a sentence"]).shape)
"""),
        Good("""\
import lightning as L
from transformers import AutoModelForSequenceClassification

class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")

    def training_step(self, batch, index):
        return self.model(**batch).loss

    def validation_step(self, batch, index):
        self.log("loss", self.model(**batch).loss)

    def test_step(self, batch, index):
        self.log("loss", self.model(**batch).loss)

    def predict_step(self, batch, index):
        return self.model(**batch).logits.argmax(-1)
"""),
        Good("""\
from transformers import Trainer

class Scorer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        model.eval()
        logits = model(**inputs).logits
        return None, logits.argmax(-1), inputs["labels"]
"""),
        Good("""\
from transformers import AutoModel, Trainer

judge = AutoModel.from_pretrained("bert-base-uncased").eval()

def compute_metrics(prediction):
    return {"score": judge(prediction.label_ids).last_hidden_state.mean().item()}

def train(model, arguments, dataset):
    Trainer(model, arguments, train_dataset=dataset, compute_metrics=compute_metrics).train()
"""),
        # Somebody computes gradients of the result, or may.
        Good("""\
def saliency(model, images, label):
    model.eval()
    images.requires_grad_(True)
    model(images)[0, label].backward()
    return images.grad.abs()
"""),
        Good("""\
import torch

def attack(model, embeddings, labels, epsilon):
    model.eval()
    embeddings = embeddings.detach().requires_grad_()
    loss = torch.nn.functional.cross_entropy(model(inputs_embeds=embeddings).logits, labels)
    (gradient,) = torch.autograd.grad(loss, embeddings)
    return embeddings + epsilon * gradient.sign()
"""),
        Good("""\
import torch
from torch.func import functional_call, grad

def gradients(model, parameters, batch):
    model.eval()

    def loss(parameters):
        return functional_call(model, parameters, (batch,)).mean()

    def other(weights):
        return model(batch).mean() * weights

    return grad(loss)(parameters), torch.func.vmap(other)(parameters)
"""),
        Good("""\
def losses(model, batches):
    model.train()
    return [model(**batch).loss for batch in batches]
"""),
        Good("""\
from objectives import contrastive

def step(encoder, optimizer, batch):
    encoder.train()
    vectors = encoder(**batch).last_hidden_state[:, 0]
    contrastive(vectors, optimizer)
"""),
        Good("""\
import torch

def distil(teacher, student, optimizer, loader):
    teacher.eval()
    student.train()
    for batch in loader:
        wanted = teacher(**batch).logits
        loss = torch.nn.functional.mse_loss(student(**batch).logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""),
        Good("""\
def reinforce(policy, optimizer, states, rewards):
    policy.train()
    saved = []
    for state in states:
        saved.append(policy(state).log_softmax(-1).max())
    loss = sum(-reward * log for log, reward in zip(saved, rewards))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""),
        Good("""\
def train(model, criterion, loader, optimizer, loss_scaler):
    model.train()
    for samples, targets in loader:
        loss = criterion(model(samples), targets)
        print(loss.item())
        loss_scaler(loss, optimizer, parameters=model.parameters())
"""),
        Good("""\
from captum.attr import LayerIntegratedGradients
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert").eval()

def score(ids):
    return model(ids).logits.max(1).values

def attributions(ids):
    return LayerIntegratedGradients(score, model.bert.embeddings).attribute(ids)
"""),
        Good("""\
import torch

def episode(policy, env):
    logs, done = [], False
    state = env.reset()
    while not done:
        distribution = torch.distributions.Categorical(logits=policy(state))
        action = distribution.sample()
        logs.append(distribution.log_prob(action))
        state, done = env.step(action.item())
    return logs

def reinforce(policy, optimizer, env):
    policy.train()
    loss = -torch.stack(episode(policy, env)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""),
        # Adapters that are loaded for inference, and the model that they are merged into, need no gradients.
        Good("""\
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

base = AutoModelForCausalLM.from_pretrained("gpt2")
model = PeftModel.from_pretrained(base, "adapter").merge_and_unload().eval()
print(model(torch.tensor([[50256]])).logits.argmax(-1).tolist())
"""),
        # No parameter needs gradients, so no graph is built.
        Good("""\
import torch
from transformers import AutoModel

teacher = AutoModel.from_pretrained("bert-base-uncased").eval()
teacher.requires_grad_(False)
print(teacher(torch.tensor([[101, 102]])).last_hidden_state.mean().item())
"""),
        Good("""\
import torch
from transformers import AutoModel

teacher = AutoModel.from_pretrained("bert-base-uncased")
for parameter in teacher.parameters():
    parameter.requires_grad = False
print(teacher(torch.tensor([[101, 102]])).last_hidden_state.mean().item())
"""),
        # A module decides nothing: its caller does.
        Good("""\
import torch
from transformers import AutoModel

class Reward(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.base = AutoModel.from_pretrained("bert-base-uncased")
        self.head = torch.nn.Linear(768, 1)

    def forward(self, ids):
        return self.head(self.base(ids).last_hidden_state[:, 0])

    def score(self, ids):
        self.eval()
        return self(ids)
"""),
        # Tracing and export want the forward as it is.
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased", torchscript=True).eval()
ids = torch.tensor([[101, 102]])
torch.jit.trace(model, ids).save("model.pt")
torch.onnx.export(model, (ids,), "model.onnx")
"""),
        # A test's graph lives no longer than the test.
        Good(
            {
                "names.py": """\
TINY = "hf-internal-testing/tiny-random-bert"
""",
                "test_model.py": """\
import torch
from names import TINY
from transformers import AutoModel

def test_shapes():
    model = AutoModel.from_pretrained(TINY).eval()
    assert model(torch.tensor([[1, 2]])).last_hidden_state.shape == (1, 2, 32)
""",
            }
        ),
        # Whoever looks at the graph means to have one.
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased").eval()
states = model(torch.tensor([[101, 102]])).last_hidden_state
print(states.requires_grad, states.grad_fn)
"""),
        # What an unknown decorator or context does to gradients is unknown.
        Good("""\
from service import endpoint

@endpoint
def predict(model, batch):
    model.eval()
    return model(**batch).logits.argmax(-1).tolist()
"""),
        Good("""\
from engine import inference

def predict(model, batch):
    model.eval()
    with inference():
        return model(**batch).logits.argmax(-1).tolist()
"""),
        # Nothing says that this is a model, or that it has learned.
        Good("""\
def evaluate(scorer, loader):
    return [scorer(batch).item() for batch in loader]
"""),
        Good("""\
import torch

model = torch.nn.Linear(4, 2)
print(model(torch.ones(1, 4)).shape)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for call, place in facts.where_all_chains_agree(facts.forwards(), _keeps_a_graph_for_nothing):
            yield self.report(
                place,
                f"`{call.callee}` builds a graph here for gradients that nobody computes",
                help="run it under `torch.no_grad()`",
                related=[] if place == call.place else [(call.place, "the forward")],
                fix=_without_gradients(facts, facts.inference_around(call, place)),
            )


def _without_gradients(facts: Facts, extent: Extent | None) -> list[Change]:
    if extent is None:
        return []
    context = facts.spelled("torch.no_grad") + "()"
    wrap = Wrap(extent.range, extent.range, f"with {context}:")
    change = Decorate(extent.range, context) if extent.is_function else wrap
    return [change] if context != "torch.no_grad()" else [change, EnsureImport("torch")]


def _keeps_a_graph_for_nothing(call: Call) -> bool:
    reaches = call.reaches_gradient
    if reaches is YES or call.gradients is not YES or call.is_in_a_test or call.is_in_a_forward:
        return False
    if call.model_needs_gradients is not YES:
        return False
    if reaches is UNKNOWN:
        is_idle = call.is_only_returned is YES and call.is_meant_for_inference is YES
    else:
        is_idle = call.model_has_learned is YES
    return is_idle and not call.is_the_other_choice and call.gradients_for_callers is YES
