"""LLM210 wrong-auto-class."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Change, EnsureImport, Facts, Good, ModelLoad, Replace, Report, Rule, Severity


class WrongAutoClass(Rule):
    """A checkpoint is loaded by a class that doesn't fit what it is, or what it is used for.

    An auto class picks the model by the `model_type` in `config.json`. Where it has none for that type, the load raises
    `Unrecognized configuration class`. Where it has one, but the checkpoint holds no weights for its head, the head is
    made of random numbers: transformers says `newly initialized`, and every label that comes out is chance until somebody
    trains it. `AutoModel` loads no head at all, so that `generate` raises; and a model that was trained to fill
    gaps, such as BERT, goes on with a text in nonsense. Load a checkpoint that was trained for the task.

    It is an error where the load or `generate` raises and a file confirms the type of the checkpoint, else a warning.
    A random head is reported only where the program runs the model and nothing trains it, loads weights into it, keeps
    it on an object, hands it to other code or returns it. Nothing is said of unknown checkpoints, code from the hub, loads with a `config`,
    and where a test or a `try` may choose the class.
    """

    code = "LLM210"
    severity = Severity.ERROR
    triggers = ("from_pretrained", "pipeline")
    bad = [
        Bad(
            {
                "translate.ipynb": [
                    """\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

checkpoint = "distilbert-base-uncased"
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained(checkpoint)
model = AutoModelForSeq2SeqLM.from_pretrained(checkpoint)  # <- `AutoModelForSeq2SeqLM` has no model for `distilbert-base-uncased`
""",
                    """\
ids = model.generate(**tokenizer("a word", return_tensors="pt"), max_new_tokens=40)
print(tokenizer.decode(ids[0], skip_special_tokens=True))
""",
                ]
            }
        ),
        # The class that fits is known.
        Bad(
            """\
import argparse
from transformers import AutoModelForCausalLM, AutoTokenizer

class Summarizer:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)  # <- whose type is `t5`

    def __call__(self, text):
        ids = self.model.generate(**self.tokenizer(text, return_tensors="pt"), max_new_tokens=60)
        return self.tokenizer.decode(ids[0], skip_special_tokens=True)

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="t5-small")
print(Summarizer(parser.parse_args().model)("summarize: all of it"))
""",
            fixed="""\
import argparse
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

class Summarizer:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForSeq2SeqLM.from_pretrained(name)

    def __call__(self, text):
        ids = self.model.generate(**self.tokenizer(text, return_tensors="pt"), max_new_tokens=60)
        return self.tokenizer.decode(ids[0], skip_special_tokens=True)

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="t5-small")
print(Summarizer(parser.parse_args().model)("summarize: all of it"))
""",
        ),
        # A random head, used for inference alone.
        Bad(
            """\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

name = "bert-base-uncased"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=3)  # <- adds to `bert-base-uncased` is random

@torch.no_grad()
def classify(text):
    return model(**tokenizer(text, return_tensors="pt")).logits.argmax(-1).item()

for line in open("reviews.txt"):
    print(classify(line))
""",
            severity=Severity.WARNING,
        ),
        Bad(
            """\
from transformers import BertForQuestionAnswering, BertTokenizer, pipeline

tokenizer = BertTokenizer.from_pretrained("bert-base-uncased")
model = BertForQuestionAnswering.from_pretrained("bert-base-uncased")  # <- the head that `BertForQuestionAnswering` adds
answer = pipeline("question-answering", model=model, tokenizer=tokenizer)
tag = pipeline("ner", model="roberta-base")  # <- `AutoModelForTokenClassification`
print(answer(question="who", context="nobody"), tag("Ada of London"))
""",
            severity=Severity.WARNING,
        ),
        # No head at all, in a module of its own.
        Bad(
            {
                "models.py": """\
import transformers

def load(name):
    return transformers.AutoModel.from_pretrained(name)
""",
                "chat.py": """\
from models import load
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = load("gpt2")  # <- `AutoModel` loads `gpt2` without the head
for prompt in ("one", "two"):
    print(model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=5))
""",
            }
        ),
        Bad(
            """\
import transformers

tokenizer = transformers.AutoTokenizer.from_pretrained("gpt2")
model = transformers.AutoModel.from_pretrained("gpt2").eval()  # <- `AutoModel` loads `gpt2` without the head that `generate`
print(model.generate(**tokenizer("one", return_tensors="pt"), max_new_tokens=5))
""",
            fixed="""\
import transformers

tokenizer = transformers.AutoTokenizer.from_pretrained("gpt2")
model = transformers.AutoModelForCausalLM.from_pretrained("gpt2").eval()
print(model.generate(**tokenizer("one", return_tensors="pt"), max_new_tokens=5))
""",
        ),
        # It can be loaded, and was never trained to go on.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")
model = AutoModelForCausalLM.from_pretrained("roberta-base")  # <- `roberta-base` was trained to fill gaps
print(model.generate(**tokenizer("one", return_tensors="pt"), max_new_tokens=5))
""",
            severity=Severity.WARNING,
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, EncoderDecoderModel

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
print(model.generate(**tokenizer("one", return_tensors="pt"), max_new_tokens=5))
pair = EncoderDecoderModel.from_encoder_decoder_pretrained("bert-base-uncased", "bert-base-uncased")
print(pair)
"""),
        # The head is trained afterwards: by a Trainer, by a loop of its own, by somebody who gets the model.
        Good("""\
import torch
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

def main(dataset):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)
    trainer = Trainer(model, TrainingArguments("out"), train_dataset=dataset)
    trainer.train()
    with torch.no_grad():
        print(model(**dataset[0]).logits.argmax(-1).item())
"""),
        Good("""\
import torch
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

def fit(loader):
    for batch in loader:
        optimizer.zero_grad()
        model(**batch).loss.backward()
        optimizer.step()

@torch.no_grad()
def classify(batch):
    return model(**batch).logits.argmax(-1).tolist()
"""),
        Good("""\
from transformers import AutoModelForSequenceClassification, AutoTokenizer

def load(name="bert-base-uncased"):
    return AutoModelForSequenceClassification.from_pretrained(name), AutoTokenizer.from_pretrained(name)
"""),
        Good("""\
import torch
from finetune import fit
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
fit(model)
with torch.no_grad():
    print(model(torch.tensor([[101, 102]])).logits.argmax(-1).item())
"""),
        # Weights are loaded into it, or the head is replaced.
        Good("""\
import torch
from peft import PeftModel
from transformers import AutoModelForSequenceClassification

first = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
first.load_state_dict(torch.load("head.pt"))
second = PeftModel.from_pretrained(AutoModelForSequenceClassification.from_pretrained("bert-base-uncased"), "adapter")
third = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
third.classifier.load_state_dict(torch.load("classifier.pt"))
fourth = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
fourth.classifier = torch.load("classifier.pt", weights_only=False)
with torch.no_grad():
    for model in (first, second, third, fourth):
        print(model(torch.tensor([[101, 102]])).logits.argmax(-1).item())
"""),
        # The checkpoint has such a head, nobody knows it, or the head is no part of what is pretrained.
        Good("""\
import torch
from transformers import AutoModelForSequenceClassification, pipeline

first = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased-finetuned-sst-2-english")
second = AutoModelForSequenceClassification.from_pretrained("../runs/best")
with torch.no_grad():
    for model in (first, second):
        print(model(torch.tensor([[101, 102]])).logits.argmax(-1).item())
print(pipeline("sentiment-analysis")("fine"), pipeline("fill-mask", model="bert-base-uncased")("a [MASK]"))
"""),
        # A test, or an exception, chooses the class.
        Good("""\
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

def load(name="t5-small"):
    config = AutoConfig.from_pretrained(name)
    if config.is_encoder_decoder:
        return AutoModelForSeq2SeqLM.from_pretrained(name)
    return AutoModelForCausalLM.from_pretrained(name)

def load_any(name="t5-small"):
    try:
        return AutoModelForCausalLM.from_pretrained(name)
    except ValueError:
        return AutoModelForSeq2SeqLM.from_pretrained(name)

def load_for(name="t5-small", generative=False):
    cls = AutoModelForCausalLM if generative else AutoModelForSeq2SeqLM
    return cls.from_pretrained(name)
"""),
        # Code from the hub, a config, arguments that aren't seen.
        Good("""\
from transformers import AutoModelForCausalLM, T5Config

def load(settings):
    first = AutoModelForCausalLM.from_pretrained("t5-small", trust_remote_code=True)
    second = AutoModelForCausalLM.from_pretrained("t5-small", config=T5Config())
    return first, second, AutoModelForCausalLM.from_pretrained("t5-small", **settings)
"""),
        # Encoders encode.
        Good("""\
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM

encoder = AutoModel.from_pretrained("bert-base-uncased")
scorer = AutoModelForCausalLM.from_pretrained("gpt2")
filler = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
with torch.no_grad():
    print(encoder(torch.tensor([[101, 102]])).last_hidden_state, filler(torch.tensor([[101, 103, 102]])).logits)
    print(scorer.generate(torch.tensor([[50256]]), max_new_tokens=5))
"""),
        # Whoever has the object may train what it holds.
        Good("""\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

class Tone:
    def __init__(self, name="bert-base-uncased"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=3)

    @torch.no_grad()
    def predict(self, text):
        return self.model(**self.tokenizer(text, return_tensors="pt")).logits.argmax(-1).item()

print(Tone().predict("fine"))
"""),
        # A part of a module that is trained elsewhere; a test.
        Good(
            {
                "tagger.py": """\
import torch
from transformers import AutoModelForTokenClassification

class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForTokenClassification.from_pretrained("bert-base-uncased", num_labels=9)

    def forward(self, ids):
        return self.model(ids).logits
""",
                "test_tagger.py": """\
import torch
from transformers import AutoModelForTokenClassification

def test_shape():
    model = AutoModelForTokenClassification.from_pretrained("bert-base-uncased", num_labels=9).eval()
    with torch.no_grad():
        assert model(torch.tensor([[101, 102]])).logits.shape == (1, 2, 9)
""",
            }
        ),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        loads = {load.call.record.id: load for load in facts.model_loads()}
        faults = {id: said for id, load in loads.items() if (said := _fault(load)) is not None}
        calls = [load.call for load in loads.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda call: call.record.id in faults):
            load = loads[call.record.id]
            message, is_certain = faults[call.record.id]
            yield self.report(
                load.place if place == call.place or place.path != load.place.path else place,
                message,
                severity=Severity.ERROR if is_certain and load.is_confirmed else Severity.WARNING,
                help="load a checkpoint that was trained for the task, by the class that fits it",
                fix=_fitting(load),
            )


def _fault(load: ModelLoad) -> tuple[str, bool] | None:
    """What is wrong with the class, and whether it raises."""
    name, cls = f"`{load.loaded.name}`", f"`{load.class_name}`"
    if load.type_is_taken is NO:
        return f"{cls} has no model for {name}, whose type is `{load.model_type}`", True
    if load.class_name == "AutoModel" and load.generates and load.generating_class is not None:
        return f"{cls} loads {name} without the head that `generate` needs", True
    if load.head_is_new is YES and load.only_infers is YES:
        return f"the head that {cls} adds to {name} is random, and nothing trains it", False
    if load.generates and load.fills_gaps is YES and load.only_infers is YES:
        return f"{name} was trained to fill gaps, not to go on with a text", False
    return None


def _fitting(load: ModelLoad) -> list[Change]:
    """The auto class by which the checkpoint generates, where the program means it to."""
    fitting = load.generating_class
    place = load.class_place
    if fitting is None or not load.generates or load.is_of_a_pipeline or place != load.place:
        return []
    package = place.text.rpartition(".")[0]
    change = Replace(place.range, f"{package}.{fitting}" if package else fitting)
    return [change] if package else [change, EnsureImport("transformers", fitting)]
