"""LLM116 length-beyond-context."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity

_SAID = {
    "pads": "texts are padded to {number:,} tokens",
    "cuts": "texts may have up to {number:,} tokens",
    "sentences": "texts may have up to {number:,} tokens",
    "answer to prompt": "up to {number:,} new tokens follow the prompt",
    "answer": "up to {number:,} new tokens are generated",
    "prompt with answer": "prompt and answer may have up to {number:,} tokens",
    "prompt and answer": "prompt and answer may have up to {number:,} tokens",
    "slice": "ids are cut to {number:,} tokens",
    "pipeline": "up to {number:,} tokens are let through",
    "positions": "{number:,} positions are asked for",
}


class LengthBeyondContext(Rule):
    """More tokens are let through than the model's context holds.

    BERT, GPT-2, OPT, BART and their kin look positions up in a table: one token more than it has rows raises an
    `IndexError` on the CPU and a device-side assert on a GPU, but only for the text that is long enough, so that tests with
    short texts pass. Models with rotary positions (Llama, Qwen2, Gemma) go on, with positions that they never learnt, and
    what they say gets worse. Cut or split texts to `model.config.max_position_embeddings`, and leave room for
    what is generated.

    Looked at are the `max_length` that a tokenizer cuts or pads to (its `model_max_length`, where the program sets one), if
    its ids go to a model that is loaded by a known name; `max_length` and `max_new_tokens` of `generate`, the latter also
    together with the prompt; a slice of the ids (`ids[:, :n]`); a pipeline's `max_length`; `max_seq_length` of a sentence transformer; the length in the
    arguments of TRL's trainers; positions that are asked for at a load.

    Nothing is said of models with relative positions or ALiBi (T5, DeBERTa, BLOOM), where the load or its config
    sets a scaling or another context, where positions are replaced, of unknown names, and where the program slices the ids or
    compares their number. It is an error where a file confirms the context and too long a text raises, else a warning.
    """

    code = "LLM116"
    severity = Severity.ERROR
    triggers = ("max_length", "max_new_tokens", "max_seq_length", "max_position_embeddings", "n_positions", "[:, :")
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("Once", padding="max_length", max_length=1500, return_tensors="pt")  # <- padded to 1,500 tokens
print(model.generate(**inputs, do_sample=False, max_length=1024))
print(model.generate(**tokenizer("Twice", return_tensors="pt"), max_length=2_048))  # <- up to 2,048 tokens
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("Once", padding="max_length", max_length=1024, return_tensors="pt")
print(model.generate(**inputs, do_sample=False, max_length=1024))
print(model.generate(**tokenizer("Twice", return_tensors="pt"), max_length=1024))
""",
        ),
        # A class whose methods share the limit, which is a default; nothing plain to write instead.
        Bad("""\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

class Tone:
    def __init__(self, name="distilbert-base-uncased", limit=1024):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForSequenceClassification.from_pretrained(name)
        self.limit = limit

    def encode(self, text):
        return self.tokenizer(text, padding="max_length", max_length=self.limit, return_tensors="pt")  # <- 1,024

    @torch.no_grad()
    def predict(self, text):
        return self.model(**self.encode(text)).logits.argmax(-1).item()
"""),
        # Prompt and answer each fit, together they don't; the prompts are a module's constants.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

QUESTIONS = ["Who are you?", "What is this?"]
tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m", padding_side="left")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
for question in QUESTIONS:
    inputs = tokenizer("Q: " + question, padding="max_length", max_length=2048, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=256)  # <- prompt and answer may have up to 2,304 tokens
    print(tokenizer.decode(output[0]))
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

QUESTIONS = ["Who are you?", "What is this?"]
tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m", padding_side="left")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
for question in QUESTIONS:
    inputs = tokenizer("Q: " + question, padding="max_length", max_length=1792, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=256)
    print(tokenizer.decode(output[0]))
""",
        ),
        # How much shorter an answer should be is not plain.
        Bad("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

def ask(question):
    tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
    model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
    return model.generate(**tokenizer(question, return_tensors="pt"), max_new_tokens=4096)  # <- up to 4,096 new tokens
"""),
        # The tokenizer is told of a longer model, and the dataset is cut to that.
        Bad(
            {
                "train.ipynb": [
                    """\
from transformers import AutoModelForMaskedLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("roberta-base", model_max_length=1024)
model = AutoModelForMaskedLM.from_pretrained("roberta-base")

def encode(row):
    return tokenizer(row["text"], padding="max_length")  # <- padded to 1,024 tokens, and the context of `roberta-base`
""",
                    """\
def train(dataset, arguments):
    collator = DataCollatorForLanguageModeling(tokenizer)
    Trainer(model=model, args=arguments, train_dataset=dataset.map(encode), data_collator=collator).train()
""",
                ]
            },
        ),
        # Rotary positions don't raise: a warning. TRL's trainer cuts by itself.
        Bad(
            """\
from trl import SFTConfig, SFTTrainer

def tune(dataset):
    arguments = SFTConfig(output_dir="out", max_length=8192, seed=7)  # <- holds 2,048
    SFTTrainer("EleutherAI/pythia-160m", args=arguments, train_dataset=dataset).train()
""",
            fixed="""\
from trl import SFTConfig, SFTTrainer

def tune(dataset):
    arguments = SFTConfig(output_dir="out", max_length=2048, seed=7)
    SFTTrainer("EleutherAI/pythia-160m", args=arguments, train_dataset=dataset).train()
""",
            severity=Severity.WARNING,
        ),
        # The config is the checkpoint's own but for what matters here.
        Bad(
            """\
import torch
from transformers import AutoConfig, AutoTokenizer, CamembertForCausalLM

@torch.no_grad()
def likely(text):
    tokenizer = AutoTokenizer.from_pretrained("camembert-base")
    config = AutoConfig.from_pretrained("camembert-base")
    config.is_decoder = True
    model = CamembertForCausalLM.from_pretrained("camembert-base", config=config)
    return model(**tokenizer(text, padding="max_length", max_length=1024, return_tensors="pt")).logits  # <- 1,024 tokens
""",
            fixed="""\
import torch
from transformers import AutoConfig, AutoTokenizer, CamembertForCausalLM

@torch.no_grad()
def likely(text):
    tokenizer = AutoTokenizer.from_pretrained("camembert-base")
    config = AutoConfig.from_pretrained("camembert-base")
    config.is_decoder = True
    model = CamembertForCausalLM.from_pretrained("camembert-base", config=config)
    return model(**tokenizer(text, padding="max_length", max_length=512, return_tensors="pt")).logits
""",
        ),
        # Ids that are cut by hand.
        Bad(
            """\
import torch
from transformers import AutoModel, AutoTokenizer

@torch.no_grad()
def embed(path):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    model = AutoModel.from_pretrained("bert-base-cased")
    with open(path, encoding="utf-8") as handle:
        ids = tokenizer(handle.read(), return_tensors="pt")["input_ids"][:, :1024]  # <- ids are cut to 1,024 tokens
    return model(ids).last_hidden_state
""",
            fixed="""\
import torch
from transformers import AutoModel, AutoTokenizer

@torch.no_grad()
def embed(path):
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    model = AutoModel.from_pretrained("bert-base-cased")
    with open(path, encoding="utf-8") as handle:
        ids = tokenizer(handle.read(), return_tensors="pt")["input_ids"][:, :512]
    return model(ids).last_hidden_state
""",
        ),
        # A configuration that the weights don't fit.
        Bad("""\
from transformers import AutoConfig, AutoModel

def longer():
    config = AutoConfig.from_pretrained("bert-base-cased", hidden_dropout_prob=0.2)
    config.max_position_embeddings = 2048
    return AutoModel.from_pretrained("bert-base-cased", config=config)  # <- 2,048 positions are asked for
"""),
        # A pipeline tokenizes and generates by itself.
        Bad(
            """\
from transformers import pipeline

summarize = pipeline("summarization", model="facebook/bart-large-cnn")
print(summarize("A long story.", max_length=2000)[0]["summary_text"])  # <- up to 2,000 tokens
""",
            fixed="""\
from transformers import pipeline

summarize = pipeline("summarization", model="facebook/bart-large-cnn")
print(summarize("A long story.", max_length=1024)[0]["summary_text"])
""",
        ),
        Bad("""\
from sentence_transformers import SentenceTransformer
from transformers import AutoModel

model = SentenceTransformer("sentence-transformers/all-MiniLM-L6-v2")
model.max_seq_length = 1024  # <- texts may have up to 1,024 tokens
print(model.encode(["A sentence."]))
longer = AutoModel.from_pretrained("bert-base-cased", max_position_embeddings=2048)  # <- 2,048 positions are asked for
print(longer.config)
"""),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("Once", padding="max_length", max_length=1000, return_tensors="pt")
print(model.generate(**inputs, max_new_tokens=24))
"""),
        # Relative positions and ALiBi know no limit; a checkpoint that nothing is known of.
        Good("""\
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

def run(kind, name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = kind.from_pretrained(name)
    return model.generate(**tokenizer("Hello", padding="max_length", max_length=4096, return_tensors="pt"))

print(run(AutoModelForSeq2SeqLM, "t5-small"))
print(run(AutoModelForCausalLM, "bigscience/bloom-560m"))
print(run(AutoModelForCausalLM, "our-team/long-writer"))
"""),
        # A scaling, a configuration of one's own, positions that are replaced.
        Good("""\
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

def scaled(text):
    name = "EleutherAI/pythia-160m"
    model = AutoModelForCausalLM.from_pretrained(name, rope_scaling={"type": "linear", "factor": 4.0})
    return model.generate(**AutoTokenizer.from_pretrained(name)(text, return_tensors="pt"), max_new_tokens=4000)

def configured(text):
    config = AutoConfig.from_pretrained("gpt2", n_positions=8192)
    model = AutoModelForCausalLM.from_pretrained("gpt2", config=config, ignore_mismatched_sizes=True)
    return model.generate(**AutoTokenizer.from_pretrained("gpt2")(text, return_tensors="pt"), max_new_tokens=4000)

def replaced(text):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model.transformer.wpe = nn.Embedding(8192, 768)
    return model.generate(**AutoTokenizer.from_pretrained("gpt2")(text, return_tensors="pt"), max_new_tokens=4000)
"""),
        # Ids are sliced into windows, or somebody looks at how many there are; a tokenizer that only counts.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased")

@torch.no_grad()
def windows(text):
    ids = tokenizer(text, padding="max_length", max_length=8192, return_tensors="pt")["input_ids"]
    return [model(ids[:, start : start + 512]).last_hidden_state for start in range(0, ids.shape[1], 512)]

@torch.no_grad()
def pieces(text):
    ids = tokenizer(text, padding="max_length", max_length=8192, return_tensors="pt").input_ids
    return model(ids.view(-1, 512)).pooler_output, [model(piece).pooler_output for piece in torch.split(ids, 512, dim=1)]

@torch.no_grad()
def embed(text):
    encoded = tokenizer(text, truncation=True, max_length=8192, return_tensors="pt")
    if encoded["input_ids"].shape[1] > 512:
        raise ValueError("the text is too long")
    return model(**encoded).last_hidden_state

def count(text):
    print(len(tokenizer(text, truncation=True, max_length=8192)["input_ids"]))
"""),
        # With padding and without truncation `max_length` does nothing unless all texts are padded to it.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased")
with torch.no_grad():
    print(model(**tokenizer(["A text.", "Two"], padding=True, max_length=1024, return_tensors="pt")).pooler_output)
"""),
        # The names and limits that hold together fit together.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

def embed(text, long):
    name = "allenai/longformer-base-4096" if long else "bert-base-uncased"
    limit = 4096 if long else 512
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModel.from_pretrained(name)
    with torch.no_grad():
        return model(**tokenizer(text, padding="max_length", max_length=limit, return_tensors="pt")).last_hidden_state
"""),
        # Only where the tokenizer has no limit of its own.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
if tokenizer.model_max_length > 100_000:
    tokenizer.model_max_length = 2048
model = AutoModel.from_pretrained("bert-base-uncased")
with torch.no_grad():
    print(model(**tokenizer("A text.", padding="max_length", return_tensors="pt")).last_hidden_state)
"""),
        # What a decoder generates by itself fills its table to the last row; the last token is not looked up.
        Good("""\
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

name = "Helsinki-NLP/opus-mt-en-de"
translator = AutoModelForSeq2SeqLM.from_pretrained(name)
source = AutoTokenizer.from_pretrained(name)("Good morning", return_tensors="pt")
print(translator.generate(**source, do_sample=False, max_new_tokens=512))
writer = AutoModelForCausalLM.from_pretrained("gpt2")
prompt = AutoTokenizer.from_pretrained("gpt2")("Once", return_tensors="pt")
print(writer.generate(**prompt, do_sample=False, max_length=1025))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for length in facts.lengths():
            if length.is_beyond_context is not YES:
                continue
            model, context = length.model, length.context
            said = _SAID[length.what].format(number=length.number)
            holds = (
                f"the context of `{model.name}` holds {context:,}"
                if context is not None
                else f"`{model.name}` takes fewer"
            )
            fits, literal = length.fitting, length.literal
            yield self.report(
                length.place,
                f"{said}, and {holds}",
                severity=None if context is not None and length.raises else Severity.WARNING,
                related=[(model.load.place, model.said("the model")), *length.related],
                help=None if fits is None else f"stay within {fits:,} tokens",
                fix=[Replace(literal.range, str(fits))] if literal is not None and fits is not None else (),
            )
