"""LLM309 graph-kept-by-list."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class GraphKeptByList(Rule):
    """A list collects tensors over the batches with their graphs, or on the GPU: memory runs out after some of them.

    `losses.append(loss)` keeps the tensor, and with it the graph of its step, which holds on to intermediate results and to
    inputs. Each step adds one more. Under `no_grad` there is no graph, but hidden states or the logits of a language model,
    appended where they were computed, fill the GPU: a few hundred megabytes for each batch, none of which is ever freed.
    Either run starts well and ends in an out-of-memory error, earlier with more data, not with larger batches.

    Append `loss.detach()`, or `loss.item()` where the number is wanted; append `states.cpu()`, or only what is needed of
    them.

    Reported are losses and parts of a model's output that are appended in a loop over data although gradients were computed
    of that step already, and whole hidden states, attention maps and language-model logits that are appended without
    gradients by a model on an accelerator. Lists of which gradients are computed later, lists that the loop empties or makes
    anew, and short loops (over layers, or a written number of rounds) are left alone.
    """

    code = "LLM309"
    severity = Severity.WARNING
    triggers = ("backward", "training_step", "compute_loss", "hidden_state", "logits", "attentions")
    bad = [
        Bad(
            """\
def train(model, loader, optimizer):
    model.train()
    losses = []
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)  # <- `losses` keeps the graph of every `loss`
    return sum(losses) / len(losses)
""",
            fixed="""\
def train(model, loader, optimizer):
    model.train()
    losses = []
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return sum(losses) / len(losses)
""",
        ),
        # Hidden states and logits on the GPU, without gradients.
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def collect(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").to(device).eval()
    states, logits = [], []
    with torch.no_grad():
        for batch in loader:
            output = model(**batch.to(device), output_hidden_states=True)
            states.append(output.hidden_states[-1])  # <- `output.hidden_states[-1]` of every batch stays on the GPU
            logits.append(output.logits.detach())  # <- `output.logits.detach()` of every batch stays
    return torch.cat(states), torch.cat(logits)
""",
            fixed="""\
import torch
from transformers import AutoModelForCausalLM

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

def collect(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").to(device).eval()
    states, logits = [], []
    with torch.no_grad():
        for batch in loader:
            output = model(**batch.to(device), output_hidden_states=True)
            states.append(output.hidden_states[-1].cpu())
            logits.append(output.logits.detach().cpu())
    return torch.cat(states), torch.cat(logits)
""",
        ),
        # A class that keeps them on itself.
        Bad(
            """\
import torch
from transformers import AutoModelForSequenceClassification

class Run:
    def __init__(self):
        self.model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.outputs = []

    def epoch(self, loader):
        self.model.train()
        for batch in loader:
            output = self.model(**batch)
            output.loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.outputs.append(output.logits)  # <- `self.outputs` keeps the graph of every `output.logits`
""",
            fixed="""\
import torch
from transformers import AutoModelForSequenceClassification

class Run:
    def __init__(self):
        self.model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.outputs = []

    def epoch(self, loader):
        self.model.train()
        for batch in loader:
            output = self.model(**batch)
            output.loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.outputs.append(output.logits.detach())
""",
        ),
        # A helper appends.
        Bad(
            """\
def remember(history, value):
    history.append(value)  # <- `history` keeps the graph of every `value`

def train(model, loader, optimizer):
    model.train()
    seen = []
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        remember(seen, loss)
    return seen
""",
            fixed="""\
def remember(history, value):
    history.append(value.detach())

def train(model, loader, optimizer):
    model.train()
    seen = []
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        remember(seen, loss)
    return seen
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
                        "curve = []\nfor batch in loader:\n    loss = model(**batch).loss\n    loss.backward()\n"
                        "    optimizer.step()\n    optimizer.zero_grad()\n    curve.append(loss)  # <- `curve` keeps the graph"
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
                        "curve = []\nfor batch in loader:\n    loss = model(**batch).loss\n    loss.backward()\n"
                        "    optimizer.step()\n    optimizer.zero_grad()\n    curve.append(loss.detach())"
                    ),
                ]
            },
        ),
    ]
    good = [
        Good("""\
def train(model, loader, optimizer):
    model.train()
    losses, numbers, words = [], [], []
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        numbers.append(loss.item())
        words.append(f"{loss:.3f}")
    return losses, numbers, words
"""),
        # Gradients are computed of the list: micro-batches, tasks, an episode.
        Good("""\
import torch

def reinforce(policy, optimizer, episodes):
    policy.train()
    for states, rewards in episodes:
        losses = []
        for state, reward in zip(states, rewards):
            losses.append(-policy(state).log_softmax(-1).max() * reward)
        optimizer.zero_grad()
        torch.stack(losses).sum().backward()
        optimizer.step()

def adapt(model, loader, optimizer):
    model.train()
    losses = []
    for task in loader:
        loss = model(**task).loss
        losses.append(loss)
    torch.stack(losses).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
"""),
        # The list is emptied, or made anew, as the loop goes on; or it holds but a few.
        Good("""\
def train(model, loader, optimizer, log):
    model.train()
    window, last = [], []
    for batch in loader:
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        window.append(loss)
        last.append(loss)
        if len(window) == 10:
            log(sum(window).item())
            window = []
            last.clear()

def overfit(model, batch, optimizer):
    model.train()
    losses = []
    for _ in range(20):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss)
    return losses
"""),
        # Detached on the one path on which gradients are computed.
        Good("""\
def losses_of(model, loader, with_backward):
    model.train()
    losses = []
    for batch in loader:
        loss = model(**batch).loss
        if with_backward:
            loss.backward()
            loss = loss.detach()
        losses.append(loss)
    return sum(losses)
"""),
        # What leaves the GPU, or is small: predictions, the vector of a text, the scores of a few classes.
        Good("""\
import torch
from transformers import AutoModel, AutoModelForSequenceClassification

def collect(loader):
    model = AutoModel.from_pretrained("distilbert-base-uncased").to("cuda").eval()
    judge = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased-finetuned-sst-2-english").cuda().eval()
    whole, vectors, scores, best = [], [], [], []
    with torch.no_grad():
        for batch in loader:
            states = model(**batch).last_hidden_state
            whole.append(states.cpu())
            vectors.append(states[:, 0])
            logits = judge(**batch).logits
            scores.append(logits)
            best.append(logits.argmax(-1))
    return whole, vectors, scores, best
"""),
        # One tensor of each layer, in one forward; a model on the CPU, or somewhere.
        Good("""\
import torch
from transformers import AutoModel

def mix(states, weights):
    picked = []
    for weight, layer in zip(weights, states):
        picked.append(weight * layer)
    return torch.stack(picked).sum(0)

def collect(loader, weights, model):
    local = AutoModel.from_pretrained("distilbert-base-uncased").eval()
    placed = AutoModel.from_pretrained("distilbert-base-uncased").to("cuda").eval()
    rows, others, mixed, layers = [], [], [], []
    with torch.no_grad():
        for batch in loader:
            rows.append(local(**batch).last_hidden_state)
            others.append(model(**batch).last_hidden_state)
            mixed.append(mix(placed(**batch, output_hidden_states=True).hidden_states, weights).cpu())
        for layer in range(3):
            layers.append(placed(**loader[layer]).last_hidden_state)
    return rows, others, mixed, layers
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for collected in facts.collected_tensors():
            text, term = collected.text, collected.term
            if collected.keeps_graph is YES:
                message = f"`{collected.collection}` keeps the graph of every `{text}` that is appended to it"
                change, advice = f"{text}.detach()", "append it detached"
            elif collected.stays_on_the_accelerator is YES:
                message = f"`{text}` of every batch stays on the GPU in `{collected.collection}`"
                change, advice = f"{text}.cpu()", "move it to the CPU first"
            else:
                continue
            fix = [Replace(term.range, change)] if term is not None else ()
            yield self.report(collected.call.place, message, help=advice, fix=fix)
