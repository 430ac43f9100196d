"""LLM118 decoding-ignore-index."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import (
    YES,
    Bad,
    Change,
    DecodedIds,
    EnsureImport,
    Facts,
    Good,
    Place,
    Replace,
    Report,
    Rule,
    Severity,
)


class DecodingIgnoreIndex(Rule):
    """Labels are decoded that still hold -100, which is the id of no token.

    The loss ignores what is labelled -100, so collators pad labels with it, and `Trainer` pads with it where it joins
    batches of different lengths. A tokenizer has no such id: `decode` raises `OverflowError` (a slow tokenizer
    `IndexError`), after the first epoch, when the first evaluation is done. Put the pad token's id in its place first,
    `np.where(labels != -100, labels, tokenizer.pad_token_id)`, and let `skip_special_tokens=True` leave it out.

    Labels are followed from a trainer (`compute_metrics`, `predict`) or a collator to `decode` and `batch_decode`. Nothing
    is said where the program puts something else in place of -100 on any way, takes only some of the ids, or computes with
    them first. Predictions are information: they hold -100 only where batches were padded to different lengths.
    """

    code = "LLM118"
    severity = Severity.ERROR
    triggers = ("decode(",)
    bad = [
        Bad(
            """\
import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("google/mt5-small")

def compute_metrics(eval_preds):
    preds, labels = eval_preds
    preds = np.where(preds != -100, preds, tokenizer.pad_token_id)
    texts = tokenizer.batch_decode(preds, skip_special_tokens=True)
    golds = tokenizer.batch_decode(labels, skip_special_tokens=True)  # <- `labels` still holds -100
    return {"exact": float(np.mean([text == gold for text, gold in zip(texts, golds)]))}

def main(data):
    model = AutoModelForSeq2SeqLM.from_pretrained("google/mt5-small")
    arguments = Seq2SeqTrainingArguments("out", predict_with_generate=True)
    Seq2SeqTrainer(model, arguments, train_dataset=data, eval_dataset=data, compute_metrics=compute_metrics).train()
""",
            fixed="""\
import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("google/mt5-small")

def compute_metrics(eval_preds):
    preds, labels = eval_preds
    preds = np.where(preds != -100, preds, tokenizer.pad_token_id)
    texts = tokenizer.batch_decode(preds, skip_special_tokens=True)
    golds = tokenizer.batch_decode(np.where(labels != -100, labels, tokenizer.pad_token_id), skip_special_tokens=True)
    return {"exact": float(np.mean([text == gold for text, gold in zip(texts, golds)]))}

def main(data):
    model = AutoModelForSeq2SeqLM.from_pretrained("google/mt5-small")
    arguments = Seq2SeqTrainingArguments("out", predict_with_generate=True)
    Seq2SeqTrainer(model, arguments, train_dataset=data, eval_dataset=data, compute_metrics=compute_metrics).train()
""",
        ),
        # A class whose methods share the processor, under another name for the function.
        Bad(
            """\
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperForConditionalGeneration, WhisperProcessor

class Tuning:
    def __init__(self, folder):
        self.processor = WhisperProcessor.from_pretrained("openai/whisper-small")
        self.model = WhisperForConditionalGeneration.from_pretrained("openai/whisper-small")
        self.arguments = Seq2SeqTrainingArguments(folder, predict_with_generate=True)

    def word_errors(self, prediction):
        wanted = [self.processor.tokenizer.decode(row) for row in prediction.label_ids]  # <- `row` still holds -100
        return {"empty": sum(not text for text in wanted)}

    def run(self, data):
        trainer = Seq2SeqTrainer(self.model, self.arguments, train_dataset=data, compute_metrics=self.word_errors)
        trainer.train()
""",
            fixed="""\
import numpy
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperForConditionalGeneration, WhisperProcessor

class Tuning:
    def __init__(self, folder):
        self.processor = WhisperProcessor.from_pretrained("openai/whisper-small")
        self.model = WhisperForConditionalGeneration.from_pretrained("openai/whisper-small")
        self.arguments = Seq2SeqTrainingArguments(folder, predict_with_generate=True)

    def word_errors(self, prediction):
        wanted = [self.processor.tokenizer.decode(numpy.where(row != -100, row, self.processor.tokenizer.pad_token_id)) for row in prediction.label_ids]
        return {"empty": sum(not text for text in wanted)}

    def run(self, data):
        trainer = Seq2SeqTrainer(self.model, self.arguments, train_dataset=data, compute_metrics=self.word_errors)
        trainer.train()
""",
        ),
        # Notebook cells: what `predict` returns, whole and taken apart.
        Bad(
            {
                "look.ipynb": [
                    """\
import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
trainer = Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out", predict_with_generate=True))
""",
                    """\
from data import rows

output = trainer.predict(rows)
print(tokenizer.batch_decode(output.label_ids))  # <- `output.label_ids` still holds -100
""",
                    """\
written, wanted, _ = trainer.predict(rows)
print(np.mean(written), tokenizer.decode(wanted[0]))  # <- `wanted[0]` still holds -100
""",
                ]
            },
            fixed={
                "look.ipynb": [
                    """\
import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
trainer = Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out", predict_with_generate=True))
""",
                    """\
from data import rows

output = trainer.predict(rows)
print(tokenizer.batch_decode(np.where(output.label_ids != -100, output.label_ids, tokenizer.pad_token_id)))
""",
                    """\
written, wanted, _ = trainer.predict(rows)
print(np.mean(written), tokenizer.decode(np.where(wanted[0] != -100, wanted[0], tokenizer.pad_token_id)))
""",
                ]
            },
        ),
        # A helper that a loop over a collator's batches calls.
        Bad(
            """\
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")

def texts_of(ids):
    return tokenizer.batch_decode(ids, skip_special_tokens=True)  # <- `ids` still holds -100

def evaluate(rows):
    for batch in DataLoader(rows, batch_size=8, collate_fn=DataCollatorForSeq2Seq(tokenizer, model=model)):
        written = model.generate(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=64)
        yield tokenizer.batch_decode(written, skip_special_tokens=True), texts_of(batch["labels"])
""",
            fixed="""\
import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")

def texts_of(ids):
    return tokenizer.batch_decode(ids.masked_fill(ids == -100, tokenizer.pad_token_id), skip_special_tokens=True)

def evaluate(rows):
    for batch in DataLoader(rows, batch_size=8, collate_fn=DataCollatorForSeq2Seq(tokenizer, model=model)):
        written = model.generate(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"], max_new_tokens=64)
        yield tokenizer.batch_decode(written, skip_special_tokens=True), texts_of(batch["labels"])
""",
        ),
        # Predictions hold it where batches differ in length.
        Bad(
            """\
import numpy as np
from transformers import AutoTokenizer

def make_metrics(name):
    tokenizer = AutoTokenizer.from_pretrained(name)

    def compute_metrics(prediction):
        preds = prediction.predictions
        if isinstance(preds, tuple):
            preds = preds[0]
        labels = np.where(prediction.label_ids == -100, tokenizer.pad_token_id, prediction.label_ids)
        written = tokenizer.batch_decode(preds)  # <- `preds` may be padded with -100
        return {"exact": float(np.mean([one == other for one, other in zip(written, tokenizer.batch_decode(labels))]))}

    return compute_metrics
""",
            fixed="""\
import numpy as np
from transformers import AutoTokenizer

def make_metrics(name):
    tokenizer = AutoTokenizer.from_pretrained(name)

    def compute_metrics(prediction):
        preds = prediction.predictions
        if isinstance(preds, tuple):
            preds = preds[0]
        labels = np.where(prediction.label_ids == -100, tokenizer.pad_token_id, prediction.label_ids)
        written = tokenizer.batch_decode(np.where(preds != -100, preds, tokenizer.pad_token_id))
        return {"exact": float(np.mean([one == other for one, other in zip(written, tokenizer.batch_decode(labels))]))}

    return compute_metrics
""",
            severity=Severity.INFORMATION,
        ),
    ]
    good = [
        Good("""\
import numpy as np
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google/mt5-small")

def to_text(ids):
    ids = np.where(ids != -100, ids, tokenizer.pad_token_id)
    return tokenizer.batch_decode(ids, skip_special_tokens=True)

def compute_metrics(eval_preds):
    preds, labels = eval_preds
    if isinstance(preds, tuple):
        preds = preds[0]
    return {"exact": float(np.mean([one == other for one, other in zip(to_text(preds), to_text(labels))]))}
"""),
        # In place, by a mask, by a comprehension, by a function of numpy.
        Good("""\
import numpy as np
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("t5-small")

class Metrics:
    def compute_metrics(self, prediction):
        prediction.label_ids[prediction.label_ids == -100] = tokenizer.pad_token_id
        return {"empty": sum(not text for text in tokenizer.batch_decode(prediction.label_ids))}

def compute_metrics(prediction):
    preds, labels = prediction
    np.putmask(labels, labels == -100, tokenizer.pad_token_id)
    preds[preds < 0] = 0
    return {"same": tokenizer.batch_decode(labels) == tokenizer.batch_decode(preds)}
"""),
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def compute_metrics(prediction):
    labels = prediction.label_ids
    texts = [tokenizer.decode(row[row != -100]) for row in labels]
    texts += [tokenizer.decode([one for one in row if one >= 0]) for row in labels]
    for row in labels:
        kept = row != -100
        chosen = row[kept]
        texts.append(tokenizer.decode(chosen))
    return {"empty": sum(not text for text in texts)}
"""),
        # Only where the arguments say so are the labels padded with something else; a library for speech decodes scores.
        Good("""\
import numpy as np
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def make_metrics(arguments):
    def compute_metrics(eval_preds):
        preds, labels = eval_preds
        if arguments.ignore_pad_token_for_loss:
            labels = np.where(labels != -100, labels, tokenizer.pad_token_id)
        return {"texts": len(tokenizer.batch_decode(labels)), "best": tokenizer.decode(preds.argmax(-1)[0])}

    return compute_metrics
"""),
        # Metrics of the program's own, with labels of its own; what nobody masks.
        Good("""\
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, DataCollatorForSeq2Seq, DataCollatorWithPadding

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def compute_metrics(preds, labels):
    return {"same": tokenizer.batch_decode(preds[0]) == tokenizer.batch_decode(labels)}

def report(rows):
    ids = tokenizer([row["text"] for row in rows])["input_ids"]
    print(compute_metrics((ids, rows), ids))
    for batch in DataLoader(rows, collate_fn=DataCollatorWithPadding(tokenizer)):
        print(tokenizer.batch_decode(batch["labels"]), tokenizer.batch_decode(batch["input_ids"]))
    for batch in DataLoader(rows, collate_fn=DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=0)):
        print(tokenizer.batch_decode(batch["labels"]))
    for batch in DataLoader(rows, collate_fn=DataCollatorForSeq2Seq(tokenizer)):
        print(tokenizer.batch_decode(batch["input_ids"]), "".join(bytes(row).decode("utf-8") for row in rows))
"""),
        # Somebody else may clean what `predict` returns.
        Good("""\
from cleaning import without_padding
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
trainer = Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out", predict_with_generate=True))

def show(rows):
    output = trainer.predict(rows)
    labels = without_padding(output.label_ids)
    print(tokenizer.batch_decode(labels))
    other = trainer.predict(rows)
    other.label_ids[other.label_ids == -100] = tokenizer.pad_token_id
    print(tokenizer.batch_decode(other.label_ids), tokenizer.batch_decode(trainer.evaluate(rows)))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for decoded in facts.decoded_ids():
            if decoded.hold_ignored is YES:
                place = decoded.ids_place
                text = f"`{place.text}`" if place is not None else "what is decoded"
                yield self.report(
                    decoded.call.place,
                    f"{text} {'still holds' if decoded.are_labels else 'may be padded with'} -100, the id of no token",
                    severity=None if decoded.are_labels else Severity.INFORMATION,
                    help="put the pad token's id in its place first",
                    fix=_cleaned(facts, decoded, place) if place is not None else (),
                )


def _cleaned(facts: Facts, decoded: DecodedIds, place: Place) -> list[Change]:
    """The pad token's id in place of -100, in a tensor or in an array."""
    ids, pad = place.text, f"{decoded.tokenizer_text}.pad_token_id"
    if decoded.ids_are_tensors:
        return [Replace(place.range, f"{ids}.masked_fill({ids} == -100, {pad})")]
    where = facts.spelled("numpy.where")
    imports = [EnsureImport("numpy")] if where == "numpy.where" else []
    return [*imports, Replace(place.range, f"{where}({ids} != -100, {ids}, {pad})")]
