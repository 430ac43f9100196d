"""LLM113 labels-shifted-twice."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, Severity


class LabelsShiftedTwice(Rule):
    """Labels are shifted by hand for a model that shifts them itself.

    The causal language models of transformers compare what they say at a position with the label of the next one: they are
    to be given the ids themselves as labels. Where the program has moved the labels by one already, the model learns to
    predict the token after the next. Nothing is raised and the loss falls, though less far; what the model then writes skips
    every other word. Pass `labels=input_ids`, with -100 where nothing is to be learnt, or compute the loss from the logits.

    Nothing is said where labels are not passed to the model, of encoder-decoder models, whose decoder inputs and labels are
    shifted by hand with good reason, and of the few causal classes that don't shift.
    """

    code = "LLM113"
    severity = Severity.ERROR
    triggers = ("labels",)
    bad = [
        Bad("""\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())

def train(loader):
    model.train()
    for batch in loader:
        ids = batch["input_ids"]
        loss = model(input_ids=ids[:, :-1], labels=ids[:, 1:]).loss  # <- `model` shifts labels that are shifted already
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""),
        # A class whose methods share the model; the last label is filled up.
        Bad("""\
import torch
from transformers import LlamaForCausalLM

class Tuner:
    def __init__(self, folder):
        self.model = LlamaForCausalLM.from_pretrained(folder)

    def labels_of(self, ids):
        labels = torch.full_like(ids, -100)
        labels[:, :-1] = ids[:, 1:]
        return labels

    def loss(self, ids, mask):
        return self.model(ids, attention_mask=mask, labels=self.labels_of(ids)).loss  # <- `self.model` shifts labels
"""),
        # A notebook; the rows go to a trainer.
        Bad(
            {
                "train.ipynb": [
                    """\
from torch.utils.data import Dataset
from transformers import AutoTokenizer, GPT2LMHeadModel, Trainer, TrainingArguments
""",
                    """\
class Blocks(Dataset):
    def __init__(self, path, tokenizer, length=128):
        self.ids = tokenizer(open(path, encoding="utf-8").read())["input_ids"]
        self.length = length

    def __len__(self):
        return len(self.ids) // self.length

    def __getitem__(self, index):
        block = self.ids[index * self.length : (index + 1) * self.length + 1]
        return {"input_ids": block[:-1], "labels": block[1:]}  # <- `Trainer(...)` shifts labels that are shifted already
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
trainer = Trainer(model=model, args=TrainingArguments("out"), train_dataset=Blocks("book.txt", tokenizer))
trainer.train()
""",
                ]
            }
        ),
        # A helper that a loop calls, and a roll.
        Bad("""\
import torch
from transformers import AutoModelForCausalLM

def step(model, ids, labels):
    loss = model(input_ids=ids, labels=labels).loss  # <- `model` shifts labels that are shifted already
    loss.backward()

model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-70m")
for path in ("one.pt", "two.pt"):
    ids = torch.load(path)
    step(model, ids, torch.roll(ids, -1, dims=1))
"""),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters())

def train(loader):
    model.train()
    for batch in loader:
        loss = model(input_ids=batch["input_ids"], labels=batch["input_ids"]).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""),
        # The loss is computed by hand.
        Good("""\
import torch.nn.functional as F
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")

def loss(ids):
    logits = model(input_ids=ids[:, :-1]).logits
    labels = ids[:, 1:]
    return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

def loss_of_all(ids):
    logits = model(input_ids=ids).logits[:, :-1]
    return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
"""),
        # What a decoder gets, and what it is to say.
        Good("""\
from transformers import AutoModelForSeq2SeqLM, BartForCausalLM

model = AutoModelForSeq2SeqLM.from_pretrained("google-t5/t5-small")
bart = BartForCausalLM.from_pretrained("facebook/bart-base")

def loss(ids, target):
    first = model(input_ids=ids, decoder_input_ids=target[:, :-1], labels=target[:, 1:]).loss
    return first + bart(input_ids=target[:, :-1], labels=target[:, 1:]).loss
"""),
        # The first token is left out of both; the last is, too; ids of another sequence.
        Good("""\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")

def loss(ids, prompt):
    rest = ids[:, 1:]
    first = model(input_ids=rest, labels=rest).loss
    second = model(input_ids=ids[:, 1:], labels=ids[:, 1:]).loss
    third = model(input_ids=ids[:, :-1], labels=ids[:, :-1]).loss
    whole = torch.cat([prompt, ids[:, 1:]], dim=1)
    labels = torch.cat([torch.full_like(prompt, -100), ids[:, 1:]], dim=1)
    return first + second + third + model(input_ids=whole, labels=labels).loss
"""),
        # A model of the program's own doesn't shift.
        Good("""\
import torch.nn.functional as F
from torch import nn

class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(size, 64)
        self.head = nn.Linear(64, size)

    def forward(self, input_ids, labels):
        logits = self.head(self.embedding(input_ids))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

def loss(model: Model, ids):
    return model(input_ids=ids[:, :-1], labels=ids[:, 1:])
"""),
        # Rows for a model of the program's own, and whole rows.
        Good("""\
from transformers import AutoModelForCausalLM, Trainer

def rows(blocks):
    for block in blocks:
        yield {"input_ids": block[:-1], "labels": block[1:]}

def whole(blocks):
    return [{"input_ids": block, "labels": list(block)} for block in blocks]

model = AutoModelForCausalLM.from_pretrained("gpt2")
trainer = Trainer(model=model, train_dataset=whole([[1, 2, 3]]))
trainer.train()
"""),
        # Unknown models, and labels that nobody is seen to cut.
        Good("""\
def loss(model, ids, labels):
    return model(input_ids=ids[:, :-1], labels=ids[:, 1:]).loss + model(input_ids=ids, labels=labels).loss
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[tuple[int, int]] = set()
        for run in facts.labelled_runs():
            start = run.place.range.start
            if run.is_shifted is YES and run.shifts_itself is YES and (start.row, start.column) not in seen:
                seen.add((start.row, start.column))
                yield self.report(
                    run.place,
                    f"`{run.model_text}` shifts labels that are shifted already",
                    help="pass the ids themselves as labels",
                )
