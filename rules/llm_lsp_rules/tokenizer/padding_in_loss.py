"""LLM114 padding-in-loss."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class PaddingInLoss(Rule):
    """Padded ids are used as labels as they are, so that the loss counts the padding.

    Models and `Trainer` leave out of the loss what is labelled -100, and nothing else: the id of the pad token is a token
    like any other. Each pad position is then one more thing to predict, an easy one. The loss looks better than
    the model is, it depends on how long the longest text of a batch happens to be, and the model learns to write
    padding. Label the padding -100, best by the attention mask, which tells padding from an end-of-text token of the same
    id; or leave the labels unpadded and let `DataCollatorForSeq2Seq` pad them, which does so with -100.

    Only labels that are seen to reach a model's or a trainer's loss are reported. Nothing is said where anything in the
    program may mask them: an assignment to some positions, a collator that makes labels, `ignore_index`, other code.
    """

    code = "LLM114"
    severity = Severity.ERROR
    triggers = ("labels", "text_target", "collate_fn")
    bad = [
        Bad(
            """\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("facebook/bart-base")

def prepare(batch):
    inputs = tokenizer(batch["document"])
    targets = tokenizer(batch["summary"], padding="max_length", max_length=64)
    inputs["labels"] = targets["input_ids"]  # <- `targets["input_ids"]` is padded
    return inputs

def main(dataset):
    data = dataset.map(prepare, batched=True)
    model = AutoModelForSeq2SeqLM.from_pretrained("facebook/bart-base")
    Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out", seed=1), train_dataset=data).train()
""",
            fixed="""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("facebook/bart-base")

def prepare(batch):
    inputs = tokenizer(batch["document"])
    targets = tokenizer(batch["summary"], padding="max_length", max_length=64)
    inputs["labels"] = [[token if kept else -100 for token, kept in zip(row, mask)] for row, mask in zip(targets["input_ids"], targets["attention_mask"])]
    return inputs

def main(dataset):
    data = dataset.map(prepare, batched=True)
    model = AutoModelForSeq2SeqLM.from_pretrained("facebook/bart-base")
    Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out", seed=1), train_dataset=data).train()
""",
        ),
        # A loop of its own: the prompt's own ids are the labels.
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

def fit(loader):
    model.train()
    for texts in loader:
        batch = tokenizer(texts, padding=True, return_tensors="pt")
        loss = model(**batch, labels=batch["input_ids"].clone()).loss  # <- goes into the loss with the pad tokens
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
            fixed="""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

def fit(loader):
    model.train()
    for texts in loader:
        batch = tokenizer(texts, padding=True, return_tensors="pt")
        loss = model(**batch, labels=batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
        ),
        # A dataset's items, and a collator that leaves them as they are.
        Bad(
            """\
from torch.utils.data import Dataset
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq, Trainer, TrainingArguments

class Pairs(Dataset):
    def __init__(self, pairs, tokenizer):
        self.pairs = pairs
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        source, target = self.pairs[index]
        inputs = self.tokenizer(source, return_tensors="pt")
        wanted = self.tokenizer(target, padding="max_length", max_length=32, return_tensors="pt")
        return {"input_ids": inputs.input_ids[0], "labels": wanted.input_ids.squeeze(0)}  # <- is padded

def main(pairs):
    tokenizer = AutoTokenizer.from_pretrained("t5-small")
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    collate = DataCollatorForSeq2Seq(tokenizer, model=model)
    Trainer(model, TrainingArguments("out"), train_dataset=Pairs(pairs, tokenizer), data_collator=collate).train()
"""
        ),
        # The tokenizer makes the labels; a notebook.
        Bad(
            {
                "tune.ipynb": [
                    """\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")
""",
                    """\
def prepare(examples):
    return tokenizer(examples["en"], text_target=examples["de"], padding="max_length", max_length=64)  # <- the labels are padded
""",
                    """\
def tune(dataset):
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    tokens = dataset.map(prepare, batched=True)
    Seq2SeqTrainer(model=model, args=Seq2SeqTrainingArguments("out"), train_dataset=tokens).train()
""",
                ]
            }
        ),
        # A collator of the program's own.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-70m")
tokenizer.add_special_tokens({"pad_token": "<|padding|>"})

def collate(rows):
    batch = tokenizer([row["text"] for row in rows], padding="longest", return_tensors="pt")
    batch["labels"] = batch["input_ids"].clone()  # <- is padded
    return batch

def main(rows):
    model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-70m")
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows, data_collator=collate).train()
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-70m")
tokenizer.add_special_tokens({"pad_token": "<|padding|>"})

def collate(rows):
    batch = tokenizer([row["text"] for row in rows], padding="longest", return_tensors="pt")
    batch["labels"] = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    return batch

def main(rows):
    model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-70m")
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows, data_collator=collate).train()
""",
        ),
        # What a metric puts back into labels masks none of them.
        Bad(
            """\
import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def encode(texts):
    return tokenizer(texts, padding="max_length", max_length=64).input_ids

def prepare(examples):
    return {"input_ids": encode(examples["en"]), "labels": encode(examples["de"])}  # <- is padded

def compute_metrics(prediction):
    labels = np.where(prediction.label_ids != -100, prediction.label_ids, tokenizer.pad_token_id)
    return {"exact": float((prediction.predictions == labels).all(-1).mean())}

def tune(dataset):
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    tokens = dataset.map(prepare, batched=True)
    arguments = Seq2SeqTrainingArguments("out", predict_with_generate=True)
    Seq2SeqTrainer(model, arguments, train_dataset=tokens, compute_metrics=compute_metrics).train()
"""
        ),
        # A collator that is an instance, and pads by the tokenizer of a processor.
        Bad(
            """\
from dataclasses import dataclass
from typing import Any

from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperForConditionalGeneration, WhisperProcessor

@dataclass
class Collator:
    processor: Any

    def __call__(self, rows):
        batch = self.processor.feature_extractor.pad([{"input_features": row["sound"]} for row in rows])
        labels = self.processor.tokenizer.pad([{"input_ids": row["labels"]} for row in rows], return_tensors="pt")
        batch["labels"] = labels["input_ids"]  # <- is padded
        return batch

def main(data):
    processor = WhisperProcessor.from_pretrained("openai/whisper-small")
    model = WhisperForConditionalGeneration.from_pretrained("openai/whisper-small")
    collator = Collator(processor=processor)
    Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out"), train_dataset=data, data_collator=collator).train()
""",
            fixed="""\
from dataclasses import dataclass
from typing import Any

from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperForConditionalGeneration, WhisperProcessor

@dataclass
class Collator:
    processor: Any

    def __call__(self, rows):
        batch = self.processor.feature_extractor.pad([{"input_features": row["sound"]} for row in rows])
        labels = self.processor.tokenizer.pad([{"input_ids": row["labels"]} for row in rows], return_tensors="pt")
        batch["labels"] = labels["input_ids"].masked_fill(labels["attention_mask"] == 0, -100)
        return batch

def main(data):
    processor = WhisperProcessor.from_pretrained("openai/whisper-small")
    model = WhisperForConditionalGeneration.from_pretrained("openai/whisper-small")
    collator = Collator(processor=processor)
    Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out"), train_dataset=data, data_collator=collator).train()
""",
        ),
        # Ids that a dataset holds and a loader stacks; what a trainer elsewhere masks is not what is passed here.
        Bad("""\
import torch
from collators import mask_padding
from torch.utils.data import DataLoader, Dataset
from transformers import GPT2LMHeadModel, GPT2Tokenizer, Trainer, TrainingArguments

tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = GPT2LMHeadModel.from_pretrained("gpt2")

class Poems(Dataset):
    def __init__(self, lines):
        self.ids = [torch.tensor(tokenizer(line, padding="max_length", max_length=99)["input_ids"]) for line in lines]

    def __getitem__(self, index):
        return self.ids[index]

def losses(lines):
    with torch.no_grad():
        for ids in DataLoader(Poems(lines), batch_size=2):
            yield model(ids, labels=ids).loss.item()  # <- is padded

def train(data):
    Trainer(model, TrainingArguments("out"), train_dataset=data, data_collator=mask_padding).train()
"""),
    ]
    good = [
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("facebook/bart-base")

def prepare(batch):
    inputs = tokenizer(batch["document"])
    targets = tokenizer(batch["summary"], padding="max_length", max_length=64)
    pad = tokenizer.pad_token_id
    inputs["labels"] = [[(token if token != pad else -100) for token in row] for row in targets["input_ids"]]
    return inputs

def main(dataset):
    data = dataset.map(prepare, batched=True)
    model = AutoModelForSeq2SeqLM.from_pretrained("facebook/bart-base")
    Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out", seed=1), train_dataset=data).train()
"""),
        # The collator pads, with -100.
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def prepare(batch):
    return tokenizer(batch["en"], text_target=batch["de"])

def main(dataset):
    data = dataset.map(prepare, batched=True)
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    collate = DataCollatorForSeq2Seq(tokenizer, model=model)
    Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out"), train_dataset=data, data_collator=collate).train()
"""),
        # Masked in place, by a fill, by torch.where, later on.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

def losses(texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[batch["attention_mask"] == 0] = -100
    yield model(**batch, labels=labels).loss
    other = tokenizer(texts, padding=True, return_tensors="pt")
    yield model(**other, labels=other.input_ids.masked_fill(other.attention_mask == 0, -100)).loss
    third = tokenizer(texts, padding=True, return_tensors="pt")
    yield model(**third, labels=torch.where(third["attention_mask"] == 1, third["input_ids"], -100)).loss
    fourth = tokenizer(texts, padding=True, return_tensors="pt")
    fourth["labels"] = fourth["input_ids"].clone()
    fourth["labels"].masked_fill_(fourth["attention_mask"] == 0, -100)
    yield model(**fourth).loss

def fit(loader):
    for texts in loader:
        for loss in losses(texts):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
"""),
        # Nothing is padded: one text, or no padding at all.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

@torch.no_grad()
def perplexity(text):
    one = tokenizer(text, return_tensors="pt")
    other = tokenizer("a constant", padding=True, return_tensors="pt")
    third = tokenizer(text, padding=True, return_tensors="pt")
    first = model(**one, labels=one["input_ids"]).loss
    second = model(**other, labels=other["input_ids"]).loss
    return [loss.exp().item() for loss in (first, second, model(**third, labels=third["input_ids"]).loss)]
"""),
        # A collator of the program's own masks them, what another function has padded too.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-70m")
tokenizer.add_special_tokens({"pad_token": "<|padding|>"})

def prepare(batch):
    tokens = tokenizer(batch["text"], padding="max_length", max_length=128)
    tokens["labels"] = tokens["input_ids"].copy()
    return tokens

def collate(rows):
    batch = tokenizer.pad(rows, return_tensors="pt")
    batch["labels"] = batch["input_ids"].clone()
    batch["labels"][batch["attention_mask"] == 0] = -100
    return batch

def main(dataset):
    model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-70m")
    data = dataset.map(prepare, batched=True)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=data, data_collator=collate).train()
"""),
        # One that is an instance does, what the tokenizer of its processor has padded.
        Good("""\
from transformers import Seq2SeqTrainer, Seq2SeqTrainingArguments, WhisperForConditionalGeneration, WhisperProcessor

class Collator:
    def __init__(self, processor):
        self.processor = processor

    def __call__(self, rows):
        batch = self.processor.feature_extractor.pad([{"input_features": row["sound"]} for row in rows])
        labels = self.processor.tokenizer.pad([{"input_ids": row["labels"]} for row in rows], return_tensors="pt")
        batch["labels"] = labels["input_ids"].masked_fill(labels.attention_mask.ne(1), -100)
        return batch

def main(data):
    processor = WhisperProcessor.from_pretrained("openai/whisper-small")
    model = WhisperForConditionalGeneration.from_pretrained("openai/whisper-small")
    collator = Collator(processor)
    Seq2SeqTrainer(model, Seq2SeqTrainingArguments("out"), train_dataset=data, data_collator=collator).train()
"""),
        # A collator makes the labels anew.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-70m")
tokenizer.add_special_tokens({"pad_token": "<|padding|>"})

def prepare(batch):
    tokens = tokenizer(batch["text"], padding="max_length", max_length=128)
    tokens["labels"] = tokens["input_ids"].copy()
    return tokens

def main(dataset):
    model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-70m")
    collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    data = dataset.map(prepare, batched=True)
    Trainer(model, TrainingArguments("out"), train_dataset=data, data_collator=collate).train()
"""),
        # A collator, a trainer or a function that isn't seen may mask them.
        Good("""\
from collators import mask_padding
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def prepare(batch):
    inputs = tokenizer(batch["en"], padding="max_length", max_length=64)
    inputs["labels"] = tokenizer(batch["de"], padding="max_length", max_length=64)["input_ids"]
    return inputs

def main(dataset):
    data = dataset.map(prepare, batched=True)
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    Trainer(model, TrainingArguments("out"), train_dataset=data, data_collator=mask_padding).train()
"""),
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")

class Masked(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"]
        labels[labels == tokenizer.pad_token_id] = -100
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss

def prepare(batch):
    return tokenizer(batch["en"], text_target=batch["de"], padding="max_length", max_length=64)

def main(dataset):
    data = dataset.map(prepare, batched=True)
    Masked(AutoModelForSeq2SeqLM.from_pretrained("t5-small"), TrainingArguments("out"), train_dataset=data).train()
"""),
        Good("""\
from masking import without_padding
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def prepare(batch):
    inputs = tokenizer(batch["en"], padding="max_length", max_length=64)
    targets = tokenizer(batch["de"], padding="max_length", max_length=64)
    without_padding(targets["input_ids"], tokenizer.pad_token_id)
    inputs["labels"] = targets["input_ids"]
    return inputs

def main(dataset):
    data = dataset.map(prepare, batched=True)
    Trainer(AutoModelForSeq2SeqLM.from_pretrained("t5-small"), TrainingArguments("out"), train_dataset=data).train()
"""),
        # A second function masks what the first one padded.
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def prepare(batch):
    return tokenizer(batch["en"], text_target=batch["de"], padding="max_length", max_length=64)

def mask(row):
    row["labels"] = [token if token != tokenizer.pad_token_id else -100 for token in row["labels"]]
    return row

def main(dataset):
    data = dataset.map(prepare, batched=True).map(mask)
    Trainer(AutoModelForSeq2SeqLM.from_pretrained("t5-small"), TrainingArguments("out"), train_dataset=data).train()
"""),
        # The loss of its own ignores the pad token; and labels that only a metric reads.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.manual_seed(0)
tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-70m")
tokenizer.add_special_tokens({"pad_token": "<|padding|>"})
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-70m")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
criterion = torch.nn.CrossEntropyLoss(ignore_index=tokenizer.pad_token_id)

def fit(loader):
    for texts in loader:
        batch = tokenizer(texts, padding=True, return_tensors="pt")
        batch["labels"] = batch["input_ids"].clone()
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
        loss = criterion(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""),
        Good("""\
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")

@torch.no_grad()
def score(texts, references):
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    inputs["labels"] = tokenizer(references, padding=True, return_tensors="pt").input_ids
    ids = model.generate(inputs["input_ids"], attention_mask=inputs["attention_mask"], max_new_tokens=64)
    wanted = tokenizer.batch_decode(inputs["labels"], skip_special_tokens=True)
    return [one == other for one, other in zip(tokenizer.batch_decode(ids, skip_special_tokens=True), wanted)]
"""),
        # Classes are no tokens.
        Good("""\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")

def prepare(batch):
    tokens = tokenizer(batch["text"], padding="max_length", max_length=128)
    tokens["labels"] = batch["label"]
    return tokens

def main(dataset):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
    Trainer(model, TrainingArguments("out"), train_dataset=dataset.map(prepare, batched=True)).train()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[object] = set()
        for labels in facts.padded_labels():
            place, masked = labels.place, labels.masked_text
            if place in seen or labels.reaches_loss is not YES or labels.is_masked is not NO:
                continue
            seen.add(place)
            what = (
                "the labels are padded here, and go"
                if place == labels.padding_place
                else f"`{place.text}` is padded, and goes"
            )
            yield self.report(
                place,
                f"{what} into the loss with the pad tokens",
                related=[] if place == labels.padding_place else [(labels.padding_place, "padded here")],
                help="label the padding -100",
                fix=[Replace(*masked)] if masked is not None else [],
            )
