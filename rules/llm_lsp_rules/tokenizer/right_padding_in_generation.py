"""LLM108 right-padding-in-generation."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Call, Change, Facts, Good, Replace, Report, Rule, SetArgument, Severity


class RightPaddingInGeneration(Rule):
    """A decoder-only model continues a batch of prompts that are padded on the right.

    A decoder-only model goes on after the last position of each row. Where a shorter prompt is padded on the right,
    that is after its padding: the answer follows a gap that the model never saw in training, and is worse or empty.
    Nothing is raised; transformers logs a warning. Pad on the left, `padding_side="left"`, whenever prompts of
    different lengths go to `generate`.

    The side is what the program says (`padding_side=` of the load or of the call, `tokenizer.padding_side = ...`), else
    what the checkpoint's `tokenizer_config.json` says, else what is known of GPT-2, GPT-Neo, GPT-J, OPT, Pythia, Qwen2 and
    Falcon, whose tokenizers pad right; of other checkpoints nothing is said. A plain forward with a mask takes either
    side, encoder-decoder models want the right one, and one prompt alone is not padded.

    It is an error where the program or a file says on which side is padded, and a warning where the family does.
    """

    code = "LLM108"
    severity = Severity.ERROR
    triggers = ("generate(",)
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
batch = tokenizer(["The sea", "On the first day of winter"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=9)))  # <- `model.generate` continues prompts
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m", padding_side="left")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
batch = tokenizer(["The sea", "On the first day of winter"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=9)))
""",
            severity=Severity.WARNING,
        ),
        # The program asks for the right side; whose checkpoint it is does not matter then.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

def answer(name, questions):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "right"
    model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
    encoded = tokenizer(questions, padding="longest", return_tensors="pt").to(model.device)
    output = model.generate(**encoded, max_new_tokens=64)  # <- padded on the right
    return tokenizer.batch_decode(output, skip_special_tokens=True)
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

def answer(name, questions):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "left"
    model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")
    encoded = tokenizer(questions, padding="longest", return_tensors="pt").to(model.device)
    output = model.generate(**encoded, max_new_tokens=64)
    return tokenizer.batch_decode(output, skip_special_tokens=True)
""",
        ),
        # A class whose methods share the tokenizer; a fixed length pads a single prompt, too.
        Bad(
            """\
from transformers import AutoTokenizer, GPT2LMHeadModel

class Writer:
    def __init__(self, name="gpt2"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.tokenizer.pad_token = self.tokenizer.eos_token
        self.model = GPT2LMHeadModel.from_pretrained(name).to("cuda")

    def encode(self, text):
        return self.tokenizer(text, padding="max_length", max_length=64, return_tensors="pt").to("cuda")

    def write(self, text):
        output = self.model.generate(**self.encode(text), max_new_tokens=40)  # <- `self.model.generate` continues
        return self.tokenizer.decode(output[0])
""",
            fixed="""\
from transformers import AutoTokenizer, GPT2LMHeadModel

class Writer:
    def __init__(self, name="gpt2"):
        self.tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
        self.tokenizer.pad_token = self.tokenizer.eos_token
        self.model = GPT2LMHeadModel.from_pretrained(name).to("cuda")

    def encode(self, text):
        return self.tokenizer(text, padding="max_length", max_length=64, return_tensors="pt").to("cuda")

    def write(self, text):
        output = self.model.generate(**self.encode(text), max_new_tokens=40)
        return self.tokenizer.decode(output[0])
""",
            severity=Severity.WARNING,
        ),
        # Batches that a loader collates; the checkpoint's own file says on which side it pads.
        Bad(
            {
                "answer.ipynb": [
                    """\
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorWithPadding
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("./tuned")
model = AutoModelForCausalLM.from_pretrained("./tuned")
""",
                    """\
rows = [tokenizer(line) for line in open("prompts.txt", encoding="utf-8")]
for batch in DataLoader(rows, batch_size=8, collate_fn=DataCollatorWithPadding(tokenizer)):
    print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=32)))  # <- padded on the right
""",
                ]
            },
            fixed={
                "answer.ipynb": [
                    """\
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorWithPadding
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("./tuned", padding_side="left")
model = AutoModelForCausalLM.from_pretrained("./tuned")
""",
                    """\
rows = [tokenizer(line) for line in open("prompts.txt", encoding="utf-8")]
for batch in DataLoader(rows, batch_size=8, collate_fn=DataCollatorWithPadding(tokenizer)):
    print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=32)))
""",
                ]
            },
            checkpoints={
                "tuned": {
                    "config.json": '{"model_type": "llama", "vocab_size": 32000}',
                    "tokenizer_config.json": '{"padding_side": "right", "pad_token": "<unk>"}',
                }
            },
        ),
        # One helper for both sides: the caller that pads right is at fault.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "Qwen/Qwen2.5-0.5B-Instruct"
model = AutoModelForCausalLM.from_pretrained(NAME)

def complete(tokenizer, prompts):
    batch = tokenizer(prompts, padding=True, return_tensors="pt")
    return tokenizer.batch_decode(model.generate(**batch, max_new_tokens=32))

left = AutoTokenizer.from_pretrained(NAME, padding_side="left")
right = AutoTokenizer.from_pretrained(NAME, padding_side="right")
for lines in (["Hello", "Good morning"], ["Yes", "No, never"]):
    print(complete(left, lines))
    print(complete(right, lines))  # <- `model.generate` continues prompts that are padded on the right
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "Qwen/Qwen2.5-0.5B-Instruct"
model = AutoModelForCausalLM.from_pretrained(NAME)

def complete(tokenizer, prompts):
    batch = tokenizer(prompts, padding=True, return_tensors="pt")
    return tokenizer.batch_decode(model.generate(**batch, max_new_tokens=32))

left = AutoTokenizer.from_pretrained(NAME, padding_side="left")
right = AutoTokenizer.from_pretrained(NAME, padding_side="left")
for lines in (["Hello", "Good morning"], ["Yes", "No, never"]):
    print(complete(left, lines))
    print(complete(right, lines))
""",
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m", padding_side="left")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
batch = tokenizer(["The sea", "On the first day of winter"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=9)))
"""),
        # The side is switched for the batch, and back; or asked for in the call.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m", padding_side="right")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")

def complete(prompts):
    before = tokenizer.padding_side
    tokenizer.padding_side = "left"
    batch = tokenizer(prompts, padding=True, return_tensors="pt")
    tokenizer.padding_side = before
    return model.generate(**batch, max_new_tokens=9)

def again(prompts):
    batch = tokenizer(prompts, padding=True, padding_side="left", return_tensors="pt")
    return model.generate(**batch, max_new_tokens=9)
"""),
        # Encoder-decoder models want their padding on the right.
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("t5-small", padding_side="right")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
batch = tokenizer(["translate English to German: The sea", "summarize: On that day"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=30)))
"""),
        # One prompt at a time: `padding=True` has nothing to pad.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")

def complete(prompt):
    inputs = tokenizer(prompt, padding=True, return_tensors="pt")
    return tokenizer.decode(model.generate(**inputs, max_new_tokens=9)[0])

for line in open("prompts.txt", encoding="utf-8"):
    inputs = tokenizer([line], padding="longest", return_tensors="pt")
    print(complete(line), model.generate(**inputs, max_new_tokens=9))
"""),
        # Another function decides, another program does, or nobody knows of the checkpoint.
        Good("""\
from project import prepare
from transformers import AutoModelForCausalLM, AutoTokenizer

class Engine:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
        self.model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")

    def prepare(self):
        self.tokenizer.padding_side = "left"

    def complete(self, prompts):
        return self.model.generate(**self.tokenizer(prompts, padding=True, return_tensors="pt"), max_new_tokens=9)

def complete(prompts):
    tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
    model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
    prepare(tokenizer, model)
    return model.generate(**tokenizer(prompts, padding=True, return_tensors="pt"), max_new_tokens=9)

def guess(prompts):
    tokenizer = AutoTokenizer.from_pretrained("our-team/poet")
    model = AutoModelForCausalLM.from_pretrained("our-team/poet")
    return model.generate(**tokenizer(prompts, padding=True, return_tensors="pt"), max_new_tokens=9)
"""),
        # Left on one path, and where the model is an encoder-decoder, right on the other.
        Good("""\
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

def load(name):
    seq2seq = AutoConfig.from_pretrained(name).is_encoder_decoder
    tokenizer = AutoTokenizer.from_pretrained(name, padding_side="right" if seq2seq else "left")
    kind = AutoModelForSeq2SeqLM if seq2seq else AutoModelForCausalLM
    return tokenizer, kind.from_pretrained(name)

tokenizer, model = load("facebook/opt-125m")
batch = tokenizer(["The sea", "On the first day"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=9)))
"""),
        # A checkpoint whose file says left.
        Good(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("./tuned")
model = AutoModelForCausalLM.from_pretrained("./tuned")
batch = tokenizer(["The sea", "On the first day"], padding=True, return_tensors="pt")
print(tokenizer.batch_decode(model.generate(**batch, max_new_tokens=9)))
""",
            checkpoints={
                "tuned": {
                    "config.json": '{"model_type": "opt", "vocab_size": 50272}',
                    "tokenizer_config.json": '{"padding_side": "left", "pad_token": "<pad>"}',
                }
            },
        ),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        def is_faulty(call: Call) -> bool:
            return any(batch.is_padded_right is YES for batch in facts.padded_prompts(call))

        for call, place in facts.where_all_chains_agree(facts.calls("generate"), is_faulty):
            for batch in facts.padded_prompts(call):
                if batch.is_padded_right is not YES:
                    continue
                change: Change | None = None
                if batch.written is not None:
                    change = Replace(batch.written.range, '"left"')
                elif batch.load is not None:
                    change = SetArgument(batch.load.range, "padding_side", '"left"')
                related = [(batch.place, "padded here")]
                if batch.side_place is not None:
                    related.append((batch.side_place, "the tokenizer pads on the right"))
                yield self.report(
                    place,
                    f"`{call.callee}` continues prompts that are padded on the right",
                    severity=None if batch.is_certain else Severity.WARNING,
                    related=related,
                    help="pad on the left for generation",
                    fix=[change] if change is not None else (),
                )
                break
