"""LLM310 bfloat16-to-numpy."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class Bfloat16ToNumpy(Rule):
    """NumPy has no bfloat16: `numpy()` of such a tensor raises.

    A model whose weights are bfloat16 gives hidden states, embeddings and logits in bfloat16, too. `tensor.numpy()` shares
    memory with the array that it makes and so cannot change the type; it stops with "TypeError: Got unsupported ScalarType
    BFloat16". It often does so at the very end of a long run, when the vectors are to be saved, or only on the machine where
    the model is loaded in bfloat16 for the first time.

    Call `.float()` first: every bfloat16 number is a float32 number, nothing is rounded.

    Reported are tensors of which the type is certain: parts of the output of a model that is loaded or cast as bfloat16, and
    tensors made or cast so, on their way through functions that keep the type. Whatever may widen them (`float()`, `to`, a
    float32 mask that is multiplied in, autocast, a loss) and models of a class of the program are left alone.
    """

    code = "LLM310"
    severity = Severity.ERROR
    triggers = (".numpy(",)
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-base-en-v1.5")
model = AutoModel.from_pretrained("BAAI/bge-base-en-v1.5", dtype=torch.bfloat16).cuda()

@torch.inference_mode()
def embed(texts):
    inputs = tokenizer(texts, padding=True, return_tensors="pt").to("cuda")
    return model(**inputs).last_hidden_state[:, 0].cpu().numpy()  # <- `numpy()` of a bfloat16 tensor raises
""",
            fixed="""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-base-en-v1.5")
model = AutoModel.from_pretrained("BAAI/bge-base-en-v1.5", dtype=torch.bfloat16).cuda()

@torch.inference_mode()
def embed(texts):
    inputs = tokenizer(texts, padding=True, return_tensors="pt").to("cuda")
    return model(**inputs).last_hidden_state[:, 0].cpu().float().numpy()
""",
        ),
        # A class whose model is cast later; a pooling helper; the mean over the tokens that count.
        Bad(
            """\
import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer

def pool(hidden, mask):
    mask = mask.unsqueeze(-1)
    return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)

class Embedder:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).to("cuda", dtype=torch.bfloat16).eval()

    def encode(self, texts):
        inputs = self.tokenizer(texts, padding=True, return_tensors="pt").to("cuda")
        with torch.no_grad():
            output = self.model(**inputs)
        vectors = pool(output.last_hidden_state, inputs["attention_mask"])
        return vectors.detach().cpu().numpy()  # <- `numpy()` of a bfloat16 tensor
""",
            fixed="""\
import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer

def pool(hidden, mask):
    mask = mask.unsqueeze(-1)
    return F.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)

class Embedder:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).to("cuda", dtype=torch.bfloat16).eval()

    def encode(self, texts):
        inputs = self.tokenizer(texts, padding=True, return_tensors="pt").to("cuda")
        with torch.no_grad():
            output = self.model(**inputs)
        vectors = pool(output.last_hidden_state, inputs["attention_mask"])
        return vectors.detach().cpu().float().numpy()
""",
        ),
        # Collected over batches in a helper, and joined at the end; a notebook.
        Bad(
            {
                "scores.ipynb": [
                    (
                        "import numpy as np\nimport torch\n"
                        "from transformers import AutoModelForSequenceClassification, AutoTokenizer\n\n"
                        "name = 'distilbert-base-uncased-finetuned-sst-2-english'\n"
                        "tokenizer = AutoTokenizer.from_pretrained(name)\n"
                        "model = AutoModelForSequenceClassification.from_pretrained(name).bfloat16().eval()"
                    ),
                    (
                        "def score(texts):\n    with torch.no_grad():\n"
                        "        logits = model(**tokenizer(texts, padding=True, return_tensors='pt')).logits\n"
                        "    return torch.softmax(logits, dim=-1)"
                    ),
                    (
                        "rows = []\nfor texts in batches:\n    rows.append(score(texts).cpu())\n"
                        "np.save('scores.npy', torch.cat(rows).numpy())  # <- `numpy()` of a bfloat16 tensor"
                    ),
                ]
            },
            fixed={
                "scores.ipynb": [
                    (
                        "import numpy as np\nimport torch\n"
                        "from transformers import AutoModelForSequenceClassification, AutoTokenizer\n\n"
                        "name = 'distilbert-base-uncased-finetuned-sst-2-english'\n"
                        "tokenizer = AutoTokenizer.from_pretrained(name)\n"
                        "model = AutoModelForSequenceClassification.from_pretrained(name).bfloat16().eval()"
                    ),
                    (
                        "def score(texts):\n    with torch.no_grad():\n"
                        "        logits = model(**tokenizer(texts, padding=True, return_tensors='pt')).logits\n"
                        "    return torch.softmax(logits, dim=-1)"
                    ),
                    (
                        "rows = []\nfor texts in batches:\n    rows.append(score(texts).cpu())\n"
                        "np.save('scores.npy', torch.cat(rows).float().numpy())"
                    ),
                ]
            },
        ),
        # Made or cast so, without a model.
        Bad(
            """\
import torch

def rounding(values):
    rounded = torch.as_tensor(values).to(torch.bfloat16)
    ones = torch.ones(3, dtype=torch.bfloat16).numpy()  # <- `numpy()` of a bfloat16 tensor
    return rounded.numpy() - ones  # <- `numpy()` of a bfloat16 tensor
""",
            fixed="""\
import torch

def rounding(values):
    rounded = torch.as_tensor(values).to(torch.bfloat16)
    ones = torch.ones(3, dtype=torch.bfloat16).float().numpy()
    return rounded.float().numpy() - ones
""",
        ),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-base-en-v1.5")
model = AutoModel.from_pretrained("BAAI/bge-base-en-v1.5", dtype=torch.bfloat16).cuda()

@torch.inference_mode()
def embed(texts):
    inputs = tokenizer(texts, padding=True, return_tensors="pt").to("cuda")
    output = model(**inputs)
    first = output.last_hidden_state[:, 0].float().cpu().numpy()
    second = output.last_hidden_state[:, 1].to(torch.float32).cpu().numpy()
    third = output.last_hidden_state.cpu().to(dtype=torch.float32).numpy()
    return first, second, third, output.last_hidden_state[0, 0].tolist()
"""),
        # Another type: of the checkpoint, of the default, chosen by the device, or of a caller's choice.
        Good("""\
import torch
from transformers import AutoModel

def embed(inputs, dtype, name="bert-base-uncased"):
    half = AutoModel.from_pretrained(name, dtype=torch.float16).eval().to("cuda")
    auto = AutoModel.from_pretrained(name, dtype="auto").eval()
    given = AutoModel.from_pretrained(name, dtype=dtype).eval()
    chosen = AutoModel.from_pretrained(name, dtype=torch.bfloat16 if torch.cuda.is_available() else torch.float32).eval()
    again = AutoModel.from_pretrained(name, dtype=torch.bfloat16).float().eval()
    found = []
    with torch.no_grad():
        for model in (half, auto, given, chosen, again):
            found.append(model(**inputs).last_hidden_state.cpu().numpy())
        return found, half(**inputs).pooler_output.numpy(), chosen(**inputs).pooler_output.numpy(), again(**inputs)[0].numpy()
"""),
        # Integers, truth values and the loss of a model in bfloat16.
        Good("""\
import torch
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased-finetuned-sst-2-english", dtype=torch.bfloat16).eval()

def evaluate(batch):
    with torch.no_grad():
        output = model(**batch)
    predicted = output.logits.argmax(-1)
    best = output.logits.topk(3).indices
    return predicted.cpu().numpy(), best.numpy(), (output.logits > 0).numpy(), output.loss.numpy(), batch["labels"].numpy()
"""),
        # What is multiplied in, or the context, makes float32 of it.
        Good("""\
import torch
import torch.nn.functional as F
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased", dtype=torch.bfloat16).eval()

@torch.no_grad()
def embed(inputs, weights):
    hidden = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).float()
    mean = (hidden * mask).sum(1) / mask.sum(1)
    weighted = (hidden * weights).sum(1)
    with torch.autocast("cuda", dtype=torch.float16):
        other = model(**inputs).last_hidden_state
    return mean.numpy(), weighted.numpy(), other.numpy(), F.softmax(hidden, dim=-1, dtype=torch.float32).numpy()
"""),
        # A module of the program may cast what it returns; Mamba does; so did every causal model of old.
        Good("""\
import torch
from torch import nn
from transformers import AutoModel, MambaForCausalLM

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = AutoModel.from_pretrained("bert-base-uncased")

    def forward(self, **inputs):
        return self.body(**inputs).last_hidden_state.float()

head = Head().bfloat16().eval()
mamba = MambaForCausalLM.from_pretrained("state-spaces/mamba-130m-hf", dtype=torch.bfloat16).eval()

@torch.no_grad()
def scores(inputs):
    return head(**inputs).numpy(), mamba(**inputs).logits.numpy()
"""),
        Good(
            """\
import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.bfloat16).eval()

@torch.no_grad()
def scores(inputs):
    return model(**inputs).logits.numpy()
""",
            versions={"transformers": "==4.40.0"},
        ),
        # `numpy` of other things.
        Good("""\
import torch
from frames import table

def export(dataset):
    ones = torch.ones(3, dtype=torch.bfloat16)
    return table.numpy(), dataset.with_format("numpy"), ones.to(torch.float16).numpy(), ones.int().numpy()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for conversion in facts.array_conversions():
            if conversion.of_bfloat16 is not YES:
                continue
            start, origin = conversion.start, conversion.origin
            made = "the model runs in bfloat16" if conversion.is_of_a_model else "the tensor is bfloat16 from here on"
            yield self.report(
                conversion.call.place,
                "`numpy()` of a bfloat16 tensor raises: NumPy has no such type",
                related=[(origin, made)] if origin is not None else (),
                help="cast it to float32 first",
                fix=[Replace(start.range, "float().")] if start is not None else (),
                safe=True,
            )
