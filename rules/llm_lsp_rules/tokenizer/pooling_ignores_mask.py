"""LLM117 pooling-ignores-mask."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, Severity


class PoolingIgnoresMask(Rule):
    """The states of padding count in a mean over the tokens of each text.

    A model computes a state for every position, also for padding; the attention mask only keeps the others from looking at
    it. A plain mean over the tokens counts these states as if they were words: the shorter a text is beside the longest of
    its batch, the less its vector says, and the same text gets another vector in another batch. Weight with the mask:
    `(states * mask).sum(1) / mask.sum(1)`, where `mask` is `attention_mask.unsqueeze(-1)`.

    Only means over the second dimension of what a model of transformers returns for each token are looked at, where texts
    are seen to be padded, or where the function is itself given the mask and hands it to the model only. Nothing is said of
    single texts, of states that were computed with the mask, or that anything was taken out of.
    """

    code = "LLM117"
    severity = Severity.WARNING
    triggers = (".mean(",)
    bad = [
        Bad("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google-bert/bert-base-uncased")
model = AutoModel.from_pretrained("google-bert/bert-base-uncased")

@torch.no_grad()
def embed(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    return model(**batch).last_hidden_state.mean(dim=1)  # <- counts the states of padding
"""),
        # A class whose methods share the model; the mean of two layers.
        Bad("""\
import torch
from transformers import BertModel, BertTokenizerFast

class Encoder:
    def __init__(self, name="google-bert/bert-base-uncased", pooling="mean"):
        self.tokenizer = BertTokenizerFast.from_pretrained(name)
        self.model = BertModel.from_pretrained(name)
        self.pooling = pooling

    @torch.inference_mode()
    def encode(self, texts):
        batch = self.tokenizer(texts, padding="longest", return_tensors="pt")
        layers = self.model(**batch, output_hidden_states=True).hidden_states
        if self.pooling == "cls":
            return layers[-1][:, 0]
        both = (layers[1] + layers[-1]).float() / 2
        return torch.mean(both, dim=1)  # <- counts the states of padding
"""),
        # Notebook cells, and a helper that a loop calls.
        Bad(
            {
                "vectors.ipynb": [
                    """\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("distilroberta-base")
model = AutoModel.from_pretrained("distilroberta-base")
""",
                    """\
def pool(states):
    return states.mean(1)  # <- counts the states of padding

vectors = []
for batch in (["one", "one two three"], ["four", "five six"]):
    inputs = tokenizer(batch, padding="max_length", max_length=32, return_tensors="pt")
    with torch.no_grad():
        output = model(**inputs)
    vectors.append(pool(output[0]))
    print(output.hidden_states[-2].mean(-2).shape)  # <- counts the states of padding
""",
                ]
            }
        ),
        # A module that hands the mask on to the model alone.
        Bad("""\
from torch import nn
from torch.nn import functional as F
from transformers import AutoModel

class Classifier(nn.Module):
    def __init__(self, name, labels):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)
        self.head = nn.Linear(768, labels)

    def forward(self, input_ids, attention_mask):
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        states = F.dropout(F.layer_norm(states, (768,)), training=self.training)
        return self.head(states.mean(dim=1))  # <- counts the states of padding
"""),
        # Batches that a collator pads.
        Bad("""\
import torch
from torch.utils.data import DataLoader
from transformers import AutoModel, AutoTokenizer, DataCollatorWithPadding

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased").eval()

@torch.no_grad()
def vectors(texts):
    rows = [tokenizer(text) for text in texts]
    for batch in DataLoader(rows, batch_size=16, collate_fn=DataCollatorWithPadding(tokenizer)):
        yield model(**batch).last_hidden_state.mean(1)  # <- counts the states of padding
"""),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google-bert/bert-base-uncased")
model = AutoModel.from_pretrained("google-bert/bert-base-uncased")

@torch.no_grad()
def embed(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    mask = batch["attention_mask"].unsqueeze(-1)
    return (model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1)
"""),
        # The first token, the model's own pooling, the logits of each text.
        Good("""\
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google-bert/bert-base-uncased")
model = AutoModel.from_pretrained("google-bert/bert-base-uncased")
scorer = AutoModelForSequenceClassification.from_pretrained("cross-encoder/ms-marco-MiniLM-L-6-v2")

@torch.no_grad()
def embed(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    output = model(**batch)
    first = output.last_hidden_state[:, 0]
    scores = scorer(**batch)
    return first, first.mean(dim=1), output.pooler_output.mean(dim=1), scores.logits.mean(1), scores[0].mean(1)
"""),
        # One text; several that are not padded.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google-bert/bert-base-uncased")
model = AutoModel.from_pretrained("google-bert/bert-base-uncased")

@torch.no_grad()
def embed(text):
    batch = tokenizer(text, return_tensors="pt")
    return model(**batch).last_hidden_state.mean(dim=1)

@torch.no_grad()
def embed_each(texts):
    return [model(**tokenizer(text, padding=True, return_tensors="pt")).last_hidden_state.mean(1) for text in texts]
"""),
        # Other dimensions: the mean of layers, of features, of all.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google-bert/bert-base-uncased")
model = AutoModel.from_pretrained("google-bert/bert-base-uncased")

@torch.no_grad()
def layers(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    output = model(**batch, output_hidden_states=True)
    stacked = torch.stack(output.hidden_states[-4:], dim=1).mean(dim=1)
    other = torch.stack(output.hidden_states, 1)
    turned = output.last_hidden_state.transpose(1, 2)
    states = output.last_hidden_state
    return stacked, torch.mean(other, 1), turned.mean(1), states.mean(-1), states.mean(), states.mean(dim=(1, 2))
"""),
        # What padding holds is taken out, in place or by a mask.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google-bert/bert-base-uncased")
model = AutoModel.from_pretrained("google-bert/bert-base-uncased")

@torch.no_grad()
def embed(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    states = model(**batch).last_hidden_state
    states[batch["attention_mask"] == 0] = 0.0
    return states.mean(1) * states.size(1) / batch["attention_mask"].sum(1, keepdim=True)

@torch.no_grad()
def other(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    states = model(**batch).last_hidden_state
    states.masked_fill_(batch["attention_mask"].unsqueeze(-1) == 0, 0.0)
    return states.mean(dim=1)

@torch.no_grad()
def third(sentences):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    states = model(**batch).last_hidden_state * batch["attention_mask"].unsqueeze(-1)
    rows = [row[: mask.sum()].mean(dim=0) for row, mask in zip(states, batch["attention_mask"])]
    return torch.stack(rows), states.mean(dim=1)
"""),
        # Images have no padding; a module that is given no mask; tensors of another kind.
        Good("""\
import torch
from torch import nn
from transformers import AutoImageProcessor, AutoModel

processor = AutoImageProcessor.from_pretrained("google/vit-base-patch16-224")
model = AutoModel.from_pretrained("google/vit-base-patch16-224")

@torch.no_grad()
def embed(images):
    return model(**processor(images, return_tensors="pt")).last_hidden_state.mean(dim=1)

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = AutoModel.from_pretrained("bert-base-uncased")

    def forward(self, input_ids):
        return self.encoder(input_ids).last_hidden_state.mean(dim=1)

print(torch.randn(3, 4, 5).mean(dim=1))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for mean in facts.token_means():
            if mean.counts_padding is YES:
                yield self.report(
                    mean.call.place,
                    "this mean over tokens counts the states of padding",
                    related=[(mean.padding_place, "pads" if mean.is_padded_here else "gets the mask")],
                    help="weight the states with the attention mask",
                )
