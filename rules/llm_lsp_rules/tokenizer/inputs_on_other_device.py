"""LLM119 inputs-on-other-device."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class InputsOnOtherDevice(Rule):
    """A model that was moved to another device is given what a tokenizer made on the CPU.

    A tokenizer makes its tensors on the CPU, wherever the model is. Torch does not move them: the first layer raises
    "Expected all tensors to be on the same device". On a machine without a GPU, where `device` falls back to the CPU, the
    program runs, so that the fault shows where it is used at last. Move what the tokenizer returns, `.to(model.device)`.

    Nothing is said where accelerate places the model (`device_map`, `prepare`), since its hooks move the inputs, where
    something moves the ids on any way, or where it is not known which device the model is on.
    """

    code = "LLM119"
    severity = Severity.WARNING
    triggers = (".to(", ".cuda(")
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")

def complete(prompt):
    inputs = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=20)  # <- are on the CPU, and `model` is on `cuda`
    return tokenizer.decode(output[0])
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")

def complete(prompt):
    inputs = tokenizer(prompt, return_tensors="pt").to(model.device)
    output = model.generate(**inputs, max_new_tokens=20)
    return tokenizer.decode(output[0])
""",
        ),
        # A class whose methods share the model; a device that falls back to the CPU.
        Bad(
            """\
import torch
from transformers import AutoModel, AutoTokenizer

class Encoder:
    def __init__(self):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        self.model = AutoModel.from_pretrained("bert-base-uncased")
        self.model.to(self.device)

    @torch.no_grad()
    def encode(self, text):
        batch = self.tokenizer(text, return_tensors="pt")
        return self.model(batch["input_ids"]).last_hidden_state[:, 0]  # <- are on the CPU, and `self.model` is on `cuda`

print(Encoder().encode("a text"))
""",
            fixed="""\
import torch
from transformers import AutoModel, AutoTokenizer

class Encoder:
    def __init__(self):
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
        self.model = AutoModel.from_pretrained("bert-base-uncased")
        self.model.to(self.device)

    @torch.no_grad()
    def encode(self, text):
        batch = self.tokenizer(text, return_tensors="pt").to(self.model.device)
        return self.model(batch["input_ids"]).last_hidden_state[:, 0]

print(Encoder().encode("a text"))
""",
        ),
        # Notebook cells, and a helper that a loop calls.
        Bad(
            {
                "try.ipynb": [
                    """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-70m")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-70m")
model = model.cuda().eval()
""",
                    """\
def encode(text):
    return tokenizer(text, return_tensors="pt")

for text in ("one", "two"):
    inputs = encode(text)
    ids = model.generate(inputs.input_ids, attention_mask=inputs.attention_mask, max_new_tokens=9)  # <- are on the CPU
""",
                ]
            }
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")

def complete(prompt):
    inputs = tokenizer(prompt, return_tensors="pt").to(model.device)
    output = model.generate(**inputs, max_new_tokens=20)
    return tokenizer.decode(output[0])
"""),
        # Everything is on the CPU; accelerate's hooks move what comes in; nobody knows where the model is.
        Good("""\
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer, pipeline

tokenizer = AutoTokenizer.from_pretrained("gpt2")
first = AutoModelForCausalLM.from_pretrained("gpt2")
second = AutoModelForCausalLM.from_pretrained("gpt2", device_map="auto")
third = Accelerator().prepare(AutoModelForCausalLM.from_pretrained("gpt2"))
fourth = AutoModelForCausalLM.from_pretrained("gpt2").to("cpu")
pipe = pipeline("text-generation", model="gpt2", device="cuda")

def complete(prompt, device):
    inputs = tokenizer(prompt, return_tensors="pt")
    fifth = AutoModelForCausalLM.from_pretrained("gpt2").to(device)
    for model in (first, second, third, fourth, fifth):
        print(model.generate(**inputs, max_new_tokens=20))
    return pipe(prompt, max_new_tokens=20)
"""),
        # Moved in place, part by part, by a loop, by a helper, by code that is not seen.
        Good("""\
from company import on_device
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")

def moved(batch):
    return {name: part.to("cuda") for name, part in batch.items()}

def complete(prompt):
    first = tokenizer(prompt, return_tensors="pt")
    first.to("cuda")
    second = tokenizer(prompt, return_tensors="pt")
    second["input_ids"] = second["input_ids"].cuda()
    second["attention_mask"] = second["attention_mask"].cuda()
    third = tokenizer(prompt, return_tensors="pt")
    for name in third:
        third[name] = third[name].cuda()
    fourth = moved(tokenizer(prompt, return_tensors="pt"))
    fifth = on_device(tokenizer(prompt, return_tensors="pt"))
    ids = tokenizer(prompt, return_tensors="pt").input_ids.to("cuda")
    for inputs in (first, second, third, fourth, fifth):
        print(model.generate(**inputs, max_new_tokens=20))
    return model.generate(ids, max_new_tokens=20)
"""),
        # What is wrapped around the model moves them.
        Good("""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = torch.nn.DataParallel(AutoModel.from_pretrained("bert-base-uncased").cuda())
with torch.no_grad():
    print(model(**tokenizer("a text", return_tensors="pt")).last_hidden_state)
"""),
        # Moved back before it is called.
        Good("""\
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

name = "distilbert-base-uncased-finetuned-sst-2-english"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForSequenceClassification.from_pretrained(name)
model.to("cuda")
print(sum(parameter.numel() for parameter in model.parameters()))
model.to("cpu")
with torch.no_grad():
    print(model(**tokenizer("a text", return_tensors="pt")).logits)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for inputs in facts.tokenized_inputs():
            if inputs.stay_behind is YES:
                model = inputs.call.callee.removesuffix(".generate")
                yield self.report(
                    inputs.call.place,
                    f"the inputs are on the CPU, and `{model}` is on `{inputs.device}`",
                    related=[(inputs.tokenization_place, "made here")],
                    help=f"move what the tokenizer returns to `{model}.device`",
                    fix=[Replace(*inputs.moved)] if inputs.moved is not None else (),
                )
