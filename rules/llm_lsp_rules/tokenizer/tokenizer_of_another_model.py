"""LLM101 tokenizer-of-another-model."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Facts, Good, Place, Replace, Report, Rule, Severity


class TokenizerOfAnotherModel(Rule):
    """The tokenizer's vocabulary is not the model's, so its ids mean other words to the model.

    A model knows tokens only as rows of its embedding matrix. Fed with the ids of another vocabulary it looks up the
    wrong rows: while the ids are in range nothing is raised, and the output looks plausible and is wrong. An id
    beyond the last row raises an `IndexError` on the CPU and a device-side assert on a GPU. Load tokenizer and model
    from the same checkpoint.

    A tokenizer and a model belong together here because of what the program does with them: the tokenizer's output
    reaches the model's call, its `generate` or its `Trainer`, both are given to one `pipeline` or `Trainer`, or one
    object holds both. Two models with a tokenizer each are no fault, nor are checkpoints that share a vocabulary (a
    base model and its fine-tunes, BART and RoBERTa, quantized copies). Nothing is said of a checkpoint that is not
    known, of adapters, and of a model whose embeddings are resized.

    It is an error where files show that the vocabularies differ, and a warning where that is known but no file was
    seen.
    """

    code = "LLM101"
    severity = Severity.ERROR
    triggers = ("from_pretrained", "pipeline", "vllm")
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("distilbert-base-cased")  # <- feeds model `distilbert-base-uncased`
model = AutoModelForMaskedLM.from_pretrained("distilbert-base-uncased")
with torch.no_grad():
    print(model(**tokenizer("A [MASK] film.", return_tensors="pt")).logits.argmax(-1).tolist())
""",
            fixed="""\
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
model = AutoModelForMaskedLM.from_pretrained("distilbert-base-uncased")
with torch.no_grad():
    print(model(**tokenizer("A [MASK] film.", return_tensors="pt")).logits.argmax(-1).tolist())
""",
        ),
        # The name is an option of the command line, and the fix writes it as the model's load does.
        Bad(
            """\
import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-name", default="facebook/opt-350m")
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained("gpt2")  # <- `gpt2` (50,257 tokens) feeds model `facebook/opt-350m`
    model = AutoModelForCausalLM.from_pretrained(args.model_name)
    inputs = tokenizer("Once upon a time", return_tensors="pt")
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens=20)[0]))

if __name__ == "__main__":
    main()
""",
            fixed="""\
import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model-name", default="facebook/opt-350m")
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(args.model_name)
    model = AutoModelForCausalLM.from_pretrained(args.model_name)
    inputs = tokenizer("Once upon a time", return_tensors="pt")
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens=20)[0]))

if __name__ == "__main__":
    main()
""",
        ),
        # Sizes that no file confirms are not quoted, and then it is a warning.
        Bad(
            """\
from transformers import pipeline

fill = pipeline("fill-mask", model="roberta-base", tokenizer="vinai/bertweet-base")  # <- `vinai/bertweet-base` feeds
print(fill("A <mask> film."))
""",
            fixed="""\
from transformers import pipeline

fill = pipeline("fill-mask", model="roberta-base", tokenizer="roberta-base")
print(fill("A <mask> film."))
""",
            severity=Severity.WARNING,
        ),
        Bad(
            {
                "embed.ipynb": [
                    """\
import torch
from transformers import AutoModel, AutoTokenizer
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")  # <- feeds model `bert-base-uncased`
model = AutoModel.from_pretrained("bert-base-uncased")
""",
                    """\
with torch.no_grad():
    hidden = model(**tokenizer(["A sentence."], return_tensors="pt")).last_hidden_state
hidden.shape
""",
                ]
            },
            fixed={
                "embed.ipynb": [
                    """\
import torch
from transformers import AutoModel, AutoTokenizer
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased")
""",
                    """\
with torch.no_grad():
    hidden = model(**tokenizer(["A sentence."], return_tensors="pt")).last_hidden_state
hidden.shape
""",
                ]
            },
        ),
        # Paired by the trainer that gets both, the tokenized dataset and the collator.
        Bad(
            """\
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer

MODEL = "bert-base-uncased"

def main(dataset, arguments):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")  # <- feeds model `bert-base-uncased`
    encoded = dataset.map(lambda row: tokenizer(row["text"]))
    Trainer(
        model=AutoModelForSequenceClassification.from_pretrained(MODEL),
        args=arguments,
        train_dataset=encoded,
        data_collator=DataCollatorWithPadding(tokenizer),
    ).train()
""",
            fixed="""\
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding, Trainer

MODEL = "bert-base-uncased"

def main(dataset, arguments):
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    encoded = dataset.map(lambda row: tokenizer(row["text"]))
    Trainer(
        model=AutoModelForSequenceClassification.from_pretrained(MODEL),
        args=arguments,
        train_dataset=encoded,
        data_collator=DataCollatorWithPadding(tokenizer),
    ).train()
""",
        ),
        # One object holds both, and nothing says what it does with them.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Bot:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")  # <- feeds model `facebook/opt-125m`
        self.model = AutoModelForCausalLM.from_pretrained("facebook/opt-125m")
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Bot:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained("facebook/opt-125m")
        self.model = AutoModelForCausalLM.from_pretrained("facebook/opt-125m")
""",
        ),
        # A tokenizer that is right for one of its models: the other one needs its own, and no fix can bring it.
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

class BestOf:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")  # <- feeds model `roberta-base`
        self.writer = AutoModelForCausalLM.from_pretrained("gpt2")
        self.judge = AutoModelForSequenceClassification.from_pretrained("roberta-base")

    @torch.no_grad()
    def answer(self, question):
        encoded = self.tokenizer(question, return_tensors="pt")
        answers = self.writer.generate(**encoded, num_return_sequences=4, do_sample=False, num_beams=4)
        texts = self.tokenizer.batch_decode(answers)
        scores = self.judge(**self.tokenizer(texts, return_tensors="pt")).logits[:, 0]
        return texts[scores.argmax()]
""",
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/bart-large")
model = AutoModelForSeq2SeqLM.from_pretrained("facebook/bart-large-cnn")
print(model.generate(**tokenizer("A long story.", return_tensors="pt")))
"""),
        # The documented tokenizer of a model that ships none, and the one of a quantized copy.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/gpt-neox-20b")
model = AutoModelForCausalLM.from_pretrained("state-spaces/mamba-130m-hf")
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=5))
"""),
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-2-7b-chat-hf")
model = AutoModelForCausalLM.from_pretrained("TheBloke/Llama-2-7B-Chat-GPTQ", device_map="auto")
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=5))
"""),
        # Checkpoints that nothing is known of, and a name that only the user knows.
        Good("""\
import sys

from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tuned = AutoModelForCausalLM.from_pretrained("our-team/gpt2-for-poems")
chosen = AutoModelForCausalLM.from_pretrained(sys.argv[1])
for model in (tuned, chosen):
    print(model.generate(**tokenizer("Roses", return_tensors="pt"), max_new_tokens=9))
"""),
        # An adapter is no model of its own: the tokenizer is its base model's.
        Good("""\
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained("facebook/opt-350m"), "ybelkada/opt-350m-lora")
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=5))
"""),
        # Embeddings that are made to fit are trained anew.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer

def adapt(dataset, arguments):
    tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model.resize_token_embeddings(len(tokenizer))
    encoded = dataset.map(lambda row: tokenizer(row["text"]))
    Trainer(model=model, args=arguments, train_dataset=encoded, processing_class=tokenizer).train()
"""),
        # Only the architecture is another model's; the weights are fresh.
        Good("""\
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
config = AutoConfig.from_pretrained("gpt2", vocab_size=len(tokenizer))
model = AutoModelForCausalLM.from_config(config)
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=5))
"""),
        # Two models on purpose, each with its tokenizer: a retriever beside a generator.
        Good("""\
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

class Answerer:
    def __init__(self):
        self.encoder_tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        self.encoder = AutoModel.from_pretrained("bert-base-uncased")
        self.tokenizer = AutoTokenizer.from_pretrained("gpt2")
        self.generator = AutoModelForCausalLM.from_pretrained("gpt2")

    @torch.no_grad()
    def embed(self, text):
        return self.encoder(**self.encoder_tokenizer(text, return_tensors="pt")).last_hidden_state[:, 0]

    def answer(self, question, passages):
        best = max(passages, key=lambda passage: (self.embed(question) * self.embed(passage)).sum().item())
        inputs = self.tokenizer(best + question, return_tensors="pt")
        return self.tokenizer.decode(self.generator.generate(**inputs, max_new_tokens=20)[0])
"""),
        # Distillation: one batch carries the ids of both tokenizers.
        Good("""\
import torch
from torch.utils.data import DataLoader
from transformers import AutoModel, AutoTokenizer

def distil(texts, optimizer):
    teacher_tokenizer = AutoTokenizer.from_pretrained("roberta-base")
    student_tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
    teacher = AutoModel.from_pretrained("roberta-base")
    student = AutoModel.from_pretrained("bert-base-uncased")
    student.train()
    for text in texts:
        batch = {
            "teacher": teacher_tokenizer(text, return_tensors="pt"),
            "student": student_tokenizer(text, return_tensors="pt"),
        }
        with torch.no_grad():
            wanted = teacher(**batch["teacher"]).pooler_output
        loss = (student(**batch["student"]).pooler_output - wanted).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

def rows(dataset):
    first = AutoTokenizer.from_pretrained("roberta-base")
    second = AutoTokenizer.from_pretrained("bert-base-uncased")
    encoders = AutoModel.from_pretrained("roberta-base"), AutoModel.from_pretrained("bert-base-uncased")
    both = dataset.map(lambda row: {"a": first(row["text"]), "b": second(row["text"])})
    with torch.no_grad():
        return [(encoders[0](**row["a"]).pooler_output, encoders[1](**row["b"]).pooler_output) for row in both]
"""),
        # Assisted generation across vocabularies is told both tokenizers.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-1.3b")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-1.3b")
draft_tokenizer = AutoTokenizer.from_pretrained("gpt2")
draft = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("It was a dark night", return_tensors="pt")
output = model.generate(
    **inputs, assistant_model=draft, tokenizer=tokenizer, assistant_tokenizer=draft_tokenizer, max_new_tokens=20
)
print(tokenizer.decode(output[0]))
"""),
        # A text passes from one model to the other: it is decoded in between.
        Good("""\
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

writer_tokenizer = AutoTokenizer.from_pretrained("gpt2")
writer = AutoModelForCausalLM.from_pretrained("gpt2")
story = writer.generate(**writer_tokenizer("Once", return_tensors="pt"), max_new_tokens=60)
text = writer_tokenizer.batch_decode(story, skip_special_tokens=True)
tokenizer = AutoTokenizer.from_pretrained("t5-small")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
print(tokenizer.decode(model.generate(**tokenizer(text, return_tensors="pt"))[0]))
"""),
        # Presets: the names that hold together fit together.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

def load(small):
    if small:
        name = "gpt2"
    else:
        name = "facebook/opt-350m"
    return AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name)

tokenizer, model = load(small=True)
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=5))
"""),
        Good("""\
import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="facebook/opt-350m")
parser.add_argument("--tokenizer", default=None)
args = parser.parse_args()
tokenizer = AutoTokenizer.from_pretrained(args.tokenizer or args.model)
model = AutoModelForCausalLM.from_pretrained(args.model)
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=5))
"""),
        # A folder on this disk says itself what it is.
        Good(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("./tuned")
model = AutoModelForCausalLM.from_pretrained("./tuned")
print(model.generate(**tokenizer("Hello", return_tensors="pt"), max_new_tokens=5))
""",
            checkpoints={"tuned": {"config.json": '{"model_type": "gpt2", "vocab_size": 50257}'}},
        ),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        meetings = list(facts.meetings())
        fed_at: dict[Place, set[str]] = {}
        for meeting in meetings:
            fed_at.setdefault(meeting.tokenizer.load.place, set()).add(meeting.model.name)
        for meeting in meetings:
            if meeting.vocabulary_is_shared is not NO:
                continue
            tokenizer, model = meeting.tokenizer, meeting.model
            tokens, rows = (
                (f" ({meeting.sizes[0]:,} tokens)", f" ({meeting.sizes[1]:,})") if meeting.sizes else ("", "")
            )
            # With the tokenizer of one of several models the others would be wrong.
            is_alone = len(fed_at[tokenizer.load.place]) == 1
            spelling = model.spelling_for(tokenizer) if is_alone else None
            yield self.report(
                tokenizer.load.place,
                f"tokenizer `{tokenizer.name}`{tokens} feeds model `{model.name}`{rows}",
                severity=None if meeting.is_certain else Severity.WARNING,
                related=[(model.load.place, model.said("the model")), (meeting.place, "meets the model here")],
                help=f"load {'the tokenizer' if is_alone else 'a second tokenizer, that'} of `{model.text}`",
                fix=[Replace(tokenizer.name_place.range, spelling)] if spelling and tokenizer.name_place else (),
            )
