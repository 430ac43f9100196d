"""LLM103 pad-token-masks-eos."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, Severity


class PadTokenMasksEos(Rule):
    """Labels of padding are masked by its id, which is also that of the end of each text.

    Whoever pads with `tokenizer.eos_token` and then sets labels to -100 where they are the pad token's id takes the real
    ends of texts out of the loss along with the padding. `DataCollatorForLanguageModeling(mlm=False)` masks that way. The
    loss looks as it should, but the model is never shown that a text ends, and writes on until `max_new_tokens` stops it.
    Pad with a token of its own (an unused one of the vocabulary, or one that is added with rows for it), or mask by the
    attention mask, which tells padding from a real end.

    Nothing is said where the tokenizer may have another pad token, or where nobody trains with the labels. It is
    information where the program isn't seen to write the ends: then the texts may have none, and the model learns none
    either way; nothing is said then of texts that are cut into blocks, or of batches that other code collates.
    """

    code = "LLM103"
    severity = Severity.WARNING
    triggers = ("ForLanguageModeling", "pad_token_id")
    bad = [
        Bad("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

def main(dataset):
    tokenizer = AutoTokenizer.from_pretrained("tiiuae/falcon-rw-1b")
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained("tiiuae/falcon-rw-1b")

    def encode(row):
        return tokenizer(row["question"] + row["answer"] + tokenizer.eos_token)

    collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)  # <- takes the end of each text out of the loss
    data = dataset.map(encode, remove_columns=dataset.column_names)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=data, data_collator=collate).train()
"""),
        # A class whose methods share the tokenizer, and set its pad token only if the checkpoint has none.
        Bad("""\
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling
import torch

class Tuning:
    def __init__(self):
        torch.manual_seed(0)
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token_id = self.tokenizer.eos_token_id
        self.model = AutoModelForCausalLM.from_pretrained("gpt2")
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5)

    def encode(self, row):
        ids = self.tokenizer(row["text"])["input_ids"]
        return {"input_ids": ids + [self.tokenizer.eos_token_id]}

    def run(self, rows):
        collate = DataCollatorForLanguageModeling(tokenizer=self.tokenizer, mlm=False)  # <- since `self.tokenizer` pads with it
        self.model.train()
        for batch in DataLoader([self.encode(row) for row in rows], batch_size=8, collate_fn=collate):
            loss = self.model(**batch).loss
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
"""),
        # A notebook; a text that ends as the checkpoint's own do.
        Bad(
            {
                "tune.ipynb": [
                    """\
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-410m")
tokenizer.add_special_tokens({"pad_token": tokenizer.eos_token})
""",
                    """\
def encode(row):
    return tokenizer(f"Question: {row['question']}\\nAnswer: {row['answer']}<|endoftext|>")
""",
                    """\
def tune(dataset):
    model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-410m")
    trainer = Trainer(
        model=model,
        args=TrainingArguments("out"),
        train_dataset=dataset.map(encode),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),  # <- takes the end of each text
    )
    trainer.train()
""",
                ]
            }
        ),
        # Labels that a collator of the program's own masks by the pad token's id.
        Bad("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token

def collate(rows):
    texts = [f"{row['text']}{tokenizer.eos_token}" for row in rows]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[labels == tokenizer.pad_token_id] = -100  # <- takes the end of each text out of the loss
    batch["labels"] = labels
    return batch

def main(rows):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows, data_collator=collate).train()
"""),
        # By a helper that a loop calls, one token after the other; and by a fill.
        Bad("""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.manual_seed(0)
IGNORE_INDEX = -100
tokenizer = AutoTokenizer.from_pretrained("gpt2", add_eos_token=True)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
pad = tokenizer.pad_token_id

def labels_of(ids):
    return torch.tensor([[IGNORE_INDEX if one == pad else one for one in row] for row in ids.tolist()])  # <- `pad_token_id`

def other_labels_of(ids):
    return ids.masked_fill(ids.eq(tokenizer.pad_token_id), -100)  # <- takes the end of each text out of the loss

def fit(texts, is_quick):
    for text in texts:
        batch = tokenizer([text, "another"], padding=True, return_tensors="pt")
        labels = other_labels_of(batch["input_ids"]) if is_quick else labels_of(batch["input_ids"])
        loss = model(**batch, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""),
        # The texts may have no ends at all.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token

def main(dataset):
    data = dataset.map(lambda row: tokenizer(row["text"], truncation=True, max_length=512))
    collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)  # <- takes the end of each text out of the loss
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model, TrainingArguments("out"), train_dataset=data, data_collator=collate).train()
""",
            severity=Severity.INFORMATION,
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

def main(dataset):
    tokenizer = AutoTokenizer.from_pretrained("tiiuae/falcon-rw-1b")
    tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
    model = AutoModelForCausalLM.from_pretrained("tiiuae/falcon-rw-1b")
    model.resize_token_embeddings(len(tokenizer))

    def encode(row):
        return tokenizer(row["question"] + row["answer"] + tokenizer.eos_token)

    collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    data = dataset.map(encode, remove_columns=dataset.column_names)
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=data, data_collator=collate).train()
"""),
        # Masked by the attention mask.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token

def collate(rows):
    texts = [row["text"] + tokenizer.eos_token for row in rows]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[batch["attention_mask"] == 0] = -100
    batch["labels"] = labels
    return batch

def other(rows):
    batch = tokenizer([row["text"] for row in rows], padding=True, return_tensors="pt")
    labels = batch["input_ids"].clone()
    labels[(labels == tokenizer.pad_token_id) & (batch["attention_mask"] == 0)] = -100
    return {**batch, "labels": labels}

def main(rows, collator):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows, data_collator=collate).train()
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=rows, data_collator=other).train()
"""),
        # Nothing is learned: pad = eos for inference; a trainer that only evaluates; a collator for masked words.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

def complete(texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    return tokenizer.batch_decode(model.generate(**batch, max_new_tokens=20, pad_token_id=tokenizer.pad_token_id))

def perplexity(rows):
    collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    return Trainer(model, TrainingArguments("out"), eval_dataset=rows, data_collator=collate).evaluate()

def masked():
    return DataCollatorForLanguageModeling(tokenizer), DataCollatorForLanguageModeling(tokenizer, mlm=True)
"""),
        # The checkpoint has a pad token, so that the branch is not taken; or nothing is known of it.
        Good("""\
import sys
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

def tune(name, dataset):
    tokenizer = AutoTokenizer.from_pretrained(name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    own = AutoTokenizer.from_pretrained("bert-base-uncased")
    if own.pad_token is None:
        own.pad_token = own.eos_token
    third = AutoTokenizer.from_pretrained("gpt2", pad_token="<pad>")
    fourth = AutoTokenizer.from_pretrained("gpt2")
    if len(sys.argv) > 1:
        fourth.pad_token = fourth.eos_token
    model = AutoModelForCausalLM.from_pretrained(name)
    for one in (tokenizer, own, third, fourth):
        data = dataset.map(lambda row, one=one: one(row["text"] + one.eos_token))
    for collate in (
        DataCollatorForLanguageModeling(tokenizer, mlm=False),
        DataCollatorForLanguageModeling(own, mlm=False),
        DataCollatorForLanguageModeling(third, mlm=False),
        DataCollatorForLanguageModeling(fourth, mlm=False),
    ):
        Trainer(model, TrainingArguments("out"), train_dataset=data, data_collator=collate).train()
"""),
        # Blocks of one length out of one stream of texts: there is no padding, and no end.
        Good("""\
from itertools import chain
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token

def group_texts(rows, size=1024):
    ids = list(chain(*rows["input_ids"]))
    return {"input_ids": [ids[start : start + size] for start in range(0, len(ids) // size * size, size)]}

def main(dataset):
    data = dataset.map(lambda row: tokenizer(row["text"])).map(group_texts, batched=True)
    collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model, TrainingArguments("out"), train_dataset=data, data_collator=collate).train()
"""),
        # A collator of the program's own, which puts the ends back; code that is not seen.
        Good("""\
from company import set_up
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

class KeepsEnds(DataCollatorForLanguageModeling):
    def __call__(self, rows):
        batch = super().__call__(rows)
        batch["labels"] = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        return batch

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
other = AutoTokenizer.from_pretrained("gpt2")
other.pad_token = other.eos_token
set_up(other)

def main(dataset):
    data = dataset.map(lambda row: tokenizer(row["text"] + tokenizer.eos_token))
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    Trainer(model, TrainingArguments("a"), train_dataset=data, data_collator=KeepsEnds(tokenizer, mlm=False)).train()
    collate = DataCollatorForLanguageModeling(other, mlm=False)
    Trainer(model, TrainingArguments("b"), train_dataset=data, data_collator=collate).train()
"""),
        # What a metric puts back before it decodes masks nothing; neither does padding of an encoder-decoder.
        Good("""\
import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments

tokenizer = AutoTokenizer.from_pretrained("t5-small")

def encode(row):
    inputs = tokenizer(row["en"])
    wanted = tokenizer(row["de"], padding="max_length", max_length=64)["input_ids"]
    inputs["labels"] = [one if one != tokenizer.pad_token_id else -100 for one in wanted]
    return inputs

def compute_metrics(prediction):
    labels = np.where(prediction.label_ids != -100, prediction.label_ids, tokenizer.pad_token_id)
    return {"exact": float((prediction.predictions == labels).all(-1).mean())}

def main(dataset):
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
    arguments = Seq2SeqTrainingArguments("out", predict_with_generate=True)
    Seq2SeqTrainer(model, arguments, train_dataset=dataset.map(encode), compute_metrics=compute_metrics).train()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for ends in facts.masked_ends():
            if ends.pads_with_end is not YES or ends.is_learned_from is not YES:
                continue
            is_written = ends.holds_ends is YES
            if not is_written and ends.is_packed:
                continue
            name, load = ends.tokenizer_text or "the tokenizer", ends.load_place
            what = "this collator" if ends.is_of_collator else "masking by `pad_token_id`"
            yield self.report(
                ends.place,
                f"{what} takes the end of each text out of the loss, since `{name}` pads with it",
                severity=None if is_written else Severity.INFORMATION,
                related=[(load, "the tokenizer")] if load is not None else (),
                help="pad with another token, or mask by the attention mask",
            )
