"""LLM413 logits-kept-by-trainer."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Change, Facts, Good, KeptLogits, Replace, Report, Rule, SetArgument, Severity

_BEST = "lambda logits, labels: (logits[0] if isinstance(logits, tuple) else logits).argmax(-1)"
"""A model may give other things beside its scores, which the trainer then passes on as a tuple."""


class LogitsKeptByTrainer(Rule):
    """An evaluation keeps the scores of the whole vocabulary for every token, although only the best is looked at.

    With `compute_metrics`, `Trainer` collects the logits of all batches, on the accelerator, until the last one is done:
    examples x tokens x vocabulary x 4 bytes. A thousand texts of 512 tokens and a vocabulary of 50,000 take 100 GB, so that
    a training which fits ends at its first evaluation, out of memory. `preprocess_logits_for_metrics` is called after
    every batch: the argmax taken there leaves one number for each token.

    Reported where the model's class scores a vocabulary and the function for metrics takes nothing but an argmax of its
    predictions. Silent are models that classify, functions that need the scores, `predict_with_generate`,
    `prediction_loss_only`, `batch_eval_metrics`, `eval_accumulation_steps` (which moves them to the host on purpose), sets
    that are cut to a few examples, and arguments that the program does not make where it is seen.
    """

    code = "LLM413"
    severity = Severity.WARNING
    triggers = ("compute_metrics",)
    bad = [
        Bad(
            """\
import numpy as np
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments

def accuracy(predicted):
    logits, labels = predicted
    kept = labels != -100
    return {"accuracy": float((np.argmax(logits, axis=-1)[kept] == labels[kept]).mean())}

def main(training, validation):
    trainer = Trainer(
        model=AutoModelForMaskedLM.from_pretrained("distilroberta-base"),
        args=TrainingArguments("out", eval_strategy="steps"),
        train_dataset=training,
        eval_dataset=validation,
        compute_metrics=accuracy,  # <- keeps the scores of the whole vocabulary for every token: `accuracy` only takes the best
    )
    trainer.train()
""",
            fixed="""\
import numpy as np
from transformers import AutoModelForMaskedLM, Trainer, TrainingArguments

def accuracy(predicted):
    logits, labels = predicted
    kept = labels != -100
    return {"accuracy": float((logits[kept] == labels[kept]).mean())}

def main(training, validation):
    trainer = Trainer(
        model=AutoModelForMaskedLM.from_pretrained("distilroberta-base"),
        args=TrainingArguments("out", eval_strategy="steps"),
        train_dataset=training,
        eval_dataset=validation,
        compute_metrics=accuracy,
        preprocess_logits_for_metrics=lambda logits, labels: (logits[0] if isinstance(logits, tuple) else logits).argmax(-1),
    )
    trainer.train()
""",
        ),
        # A class whose methods share the trainer; the function for metrics is one of them, and serves two trainers.
        Bad(
            """\
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

class Tuning:
    def __init__(self, name, folder):
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.arguments = TrainingArguments(folder, eval_strategy="epoch")

    def metrics(self, predicted):
        best = predicted.predictions.argmax(-1)[:, :-1]
        return {"accuracy": float((best == predicted.label_ids[:, 1:]).mean())}

    def tune(self, training, validation):
        trainer = Trainer(self.model, self.arguments, train_dataset=training, eval_dataset=validation, compute_metrics=self.metrics)  # <- `metrics` only takes the best
        trainer.train()

    def measure(self, validation):
        return Trainer(self.model, self.arguments, eval_dataset=validation, compute_metrics=self.metrics).evaluate()  # <- keeps the scores of the whole vocabulary
""",
        ),
        # Cells of a notebook; trl's trainer.
        Bad(
            {
                "tune.ipynb": [
                    "from transformers import AutoModelForCausalLM\nfrom trl import SFTConfig, SFTTrainer",
                    (
                        "def accuracy(predicted):\n"
                        "    logits, labels = predicted\n"
                        "    return {'accuracy': float((logits.argmax(-1) == labels).mean())}"
                    ),
                    (
                        'model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")\n'
                        'trainer = SFTTrainer(model, SFTConfig("out"), train_dataset=rows, eval_dataset=others, compute_metrics=accuracy)  # <- keeps the scores\n'
                        "trainer.train()"
                    ),
                ]
            },
            fixed={
                "tune.ipynb": [
                    "from transformers import AutoModelForCausalLM\nfrom trl import SFTConfig, SFTTrainer",
                    (
                        "def accuracy(predicted):\n"
                        "    logits, labels = predicted\n"
                        "    return {'accuracy': float((logits == labels).mean())}"
                    ),
                    (
                        'model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")\n'
                        'trainer = SFTTrainer(model, SFTConfig("out"), train_dataset=rows, eval_dataset=others, compute_metrics=accuracy, '
                        "preprocess_logits_for_metrics=lambda logits, labels: (logits[0] if isinstance(logits, tuple) else logits).argmax(-1))\n"
                        "trainer.train()"
                    ),
                ]
            },
        ),
    ]
    good = [
        # The best are taken after every batch; a classifier with three classes keeps little.
        Good("""\
import numpy as np
from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification, Trainer, TrainingArguments

def accuracy(predicted):
    ids, labels = predicted
    return {"accuracy": float((ids == labels).mean())}

def of_classes(predicted):
    logits, labels = predicted
    return {"accuracy": float((np.argmax(logits, -1) == labels).mean())}

def main(training, validation):
    model = AutoModelForMaskedLM.from_pretrained("distilroberta-base")
    Trainer(
        model,
        TrainingArguments("out", eval_strategy="epoch"),
        train_dataset=training,
        eval_dataset=validation,
        compute_metrics=accuracy,
        preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1),
    ).train()
    classifier = AutoModelForSequenceClassification.from_pretrained("distilroberta-base", num_labels=3)
    Trainer(
        classifier,
        TrainingArguments("classes"),
        train_dataset=training,
        eval_dataset=validation,
        compute_metrics=of_classes,
    ).train()
"""),
        # What is generated are ids.
        Good("""\
from transformers import AutoModelForSeq2SeqLM, Seq2SeqTrainer, Seq2SeqTrainingArguments

def lengths(predicted):
    return {"longest": int((predicted.predictions != 0).sum(-1).max())}

def main(training, validation):
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    arguments = Seq2SeqTrainingArguments("out", predict_with_generate=True)
    Seq2SeqTrainer(model, arguments, train_dataset=training, eval_dataset=validation, compute_metrics=lengths).train()
"""),
        # The scores themselves are wanted.
        Good("""\
import numpy as np
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def perplexity(predicted):
    logits, labels = predicted
    best = np.argmax(logits, -1)
    loss = torch.nn.functional.cross_entropy(torch.tensor(logits[:, :-1]).transpose(1, 2), torch.tensor(labels[:, 1:]))
    return {"perplexity": float(loss.exp()), "accuracy": float((best[:, :-1] == labels[:, 1:]).mean())}

def main(training, validation):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model, TrainingArguments("out"), train_dataset=training, eval_dataset=validation, compute_metrics=perplexity).train()
"""),
        # They go to the host on purpose, or there are few; what the arguments say is not seen.
        Good("""\
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def accuracy(predicted):
    return {"accuracy": float((predicted.predictions.argmax(-1) == predicted.label_ids).mean())}

def main(training, validation, arguments):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    moved = TrainingArguments("out", eval_accumulation_steps=4)
    Trainer(model, moved, train_dataset=training, eval_dataset=validation, compute_metrics=accuracy).train()
    few = validation.select(range(32))
    Trainer(model, TrainingArguments("out"), train_dataset=training, eval_dataset=validation.select(range(32)), compute_metrics=accuracy).train()
    Trainer(model, arguments, train_dataset=training, eval_dataset=few, compute_metrics=accuracy).train()
"""),
        # Sets that were cut before, in whichever way.
        Good("""\
from datasets import Dataset, load_dataset
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def accuracy(predicted):
    return {"accuracy": float((predicted.predictions.argmax(-1) == predicted.label_ids).mean())}

def main(validation, rows, tokenize, is_quick):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    few = validation.select(range(32))
    Trainer(model, TrainingArguments("out"), eval_dataset=few, compute_metrics=accuracy).evaluate()
    mapped = load_dataset("imdb")["test"].shuffle(seed=1).select(range(100)).map(tokenize, batched=True)
    Trainer(model, TrainingArguments("out"), eval_dataset=mapped, compute_metrics=accuracy).evaluate()
    sliced = load_dataset("imdb", split="test[:100]").map(tokenize, batched=True)
    Trainer(model, TrainingArguments("out"), eval_dataset=sliced, compute_metrics=accuracy).evaluate()
    listed = Dataset.from_list(rows[:10])
    Trainer(model, TrainingArguments("out"), eval_dataset=listed, compute_metrics=accuracy).evaluate()
    parts = load_dataset("imdb")
    parts["test"] = parts["test"].select(range(100))
    parts = parts.map(tokenize, batched=True)
    Trainer(model, TrainingArguments("out"), eval_dataset=parts["test"], compute_metrics=accuracy).evaluate()
    if is_quick:
        validation = validation.take(100)
    Trainer(model, TrainingArguments("out"), eval_dataset=validation, compute_metrics=accuracy).evaluate()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for kept in facts.kept_logits():
            if kept.are_of_a_vocabulary is YES and kept.are_kept is YES and kept.only_best_are_used is YES:
                yield self.report(
                    kept.place,
                    "keeps the scores of the whole vocabulary for every token: "
                    f"`{kept.function_name}` only takes the best",
                    help="take the argmax in `preprocess_logits_for_metrics`, after every batch",
                    fix=taken_before(kept),
                )


def taken_before(kept: KeptLogits) -> list[Change]:
    best = kept.best
    if best is None:
        return []
    taken, scores = best
    return [
        SetArgument(kept.call.place.range, "preprocess_logits_for_metrics", _BEST),
        Replace(taken.range, scores.text),
    ]
