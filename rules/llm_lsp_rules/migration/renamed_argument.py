"""LLM802 renamed-argument."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Change, Facts, Good, Replace, Report, Rule, Severity


class RenamedArgument(Rule):
    """An argument goes by another name in the version of transformers that the project works with: the call raises.

    `TrainingArguments(evaluation_strategy=...)` and `Trainer(tokenizer=...)` are in books, notebooks and answers of years; after
    two years of warnings transformers refuses them with "TypeError: unexpected keyword argument". The value keeps its meaning,
    only the name is new.

    The versions come from the project's requirements, its lock file, its environment, or a notebook's `pip install`. Where
    nothing says, the newest release is meant; a project that may run with a release that takes the old name is left alone.
    """

    code = "LLM802"
    severity = Severity.ERROR
    triggers = (
        "evaluation_strategy",
        "no_cuda",
        "per_gpu_",
        "push_to_hub_token",
        "Trainer",
        "use_auth_token",
        "max_seq_length",
    )
    bad = [
        Bad(
            """\
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

def run(train, dev):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3, use_auth_token=True)  # <- `use_auth_token` is called `token`
    args = TrainingArguments(
        "out",
        evaluation_strategy="epoch",  # <- `evaluation_strategy` is called `eval_strategy` since transformers 4.52.4
        per_gpu_train_batch_size=8,  # <- `per_gpu_train_batch_size` is called
    )
    trainer = Trainer(model, args, train_dataset=train, eval_dataset=dev, tokenizer=tokenizer)  # <- `tokenizer` is called `processing_class`
    trainer.train()
""",
            fixed="""\
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

def run(train, dev):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3, token=True)
    args = TrainingArguments(
        "out",
        eval_strategy="epoch",
        per_device_train_batch_size=8,
    )
    trainer = Trainer(model, args, train_dataset=train, eval_dataset=dev, processing_class=tokenizer)
    trainer.train()
""",
        ),
        # A class, one of the versions of which takes the new name only; arguments that a dictionary holds.
        Bad(
            """\
import transformers

class Run:
    def __init__(self, folder):
        settings = {"evaluation_strategy": "steps"}
        self.other = transformers.TrainingArguments(folder, **settings)  # <- `evaluation_strategy` is called
""",
            versions={"transformers": ">=5.1"},
        ),
        # trl's own.
        Bad(
            """\
from trl import DPOTrainer, SFTConfig

def tune(model, dataset, tokenizer):
    config = SFTConfig("out", max_seq_length=1024)  # <- `max_seq_length` is called `max_length` since trl
    return config, DPOTrainer(model, train_dataset=dataset, tokenizer=tokenizer)  # <- `tokenizer` is called
""",
            fixed="""\
from trl import DPOTrainer, SFTConfig

def tune(model, dataset, tokenizer):
    config = SFTConfig("out", max_length=1024)
    return config, DPOTrainer(model, train_dataset=dataset, processing_class=tokenizer)
""",
        ),
        # A notebook.
        Bad(
            {
                "train.ipynb": [
                    "from transformers import TrainingArguments",
                    "args = TrainingArguments('out', evaluation_strategy='epoch')  # <- `evaluation_strategy` is called `eval_strategy`",
                ]
            },
            fixed={
                "train.ipynb": [
                    "from transformers import TrainingArguments",
                    "args = TrainingArguments('out', eval_strategy='epoch')",
                ]
            },
        ),
    ]
    good = [
        Good("""\
from transformers import AutoTokenizer, Trainer, TrainingArguments

def run(model, train, dev):
    \"\"\"The old name was evaluation_strategy.\"\"\"
    tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased", token=True)
    args = TrainingArguments("out", eval_strategy="epoch", use_cpu=False)
    return Trainer(model, args, train_dataset=train, eval_dataset=dev, processing_class=tokenizer)
"""),
        # A release that takes the old name, or may.
        Good(
            """\
from transformers import Trainer, TrainingArguments

def run(model, train, dev, tokenizer):
    args = TrainingArguments("out", evaluation_strategy="epoch")
    return Trainer(model, args, train_dataset=train, eval_dataset=dev, tokenizer=tokenizer)
""",
            versions={"transformers": "==4.40.0"},
        ),
        # Functions and classes of the program, and of other libraries.
        Good("""\
from dataclasses import dataclass

from diffusers import DiffusionPipeline
from transformers import AutoTokenizer
from trainers import Trainer

@dataclass
class Settings:
    evaluation_strategy: str = "epoch"
    no_cuda: bool = False

def run(model, tokenizer):
    settings = Settings(evaluation_strategy="steps", no_cuda=True)
    pipe = DiffusionPipeline.from_pretrained("acme/pictures", use_auth_token=True)
    other = AutoTokenizer.from_pretrained("gpt2", use_auth_token=True)
    return Trainer(model, settings, tokenizer=tokenizer), pipe, other
"""),
        # The program looks at what it works with.
        Good("""\
import inspect

import transformers
from transformers import Trainer, TrainingArguments

def run(model, tokenizer):
    if transformers.__version__ < "4.46":
        return Trainer(model, tokenizer=tokenizer)
    try:
        args = TrainingArguments("out", evaluation_strategy="epoch")
    except TypeError:
        args = TrainingArguments("out", eval_strategy="epoch")
    return Trainer(model, args, processing_class=tokenizer)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for gone in facts.gone_arguments():
            if gone.new is None or gone.is_refused is not YES:
                continue
            change: list[Change] = [Replace(gone.name, gone.new)] if gone.name is not None else []
            yield self.report(
                gone.place,
                f"`{gone.old}` is called `{gone.new}` since {gone.library} {gone.gone}, which raises",
                help=f"call it `{gone.new}`",
                fix=change,
                safe=True,
            )
