"""LLM202 zero-temperature-sampling."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Generation, Good, Report, Rule, SetArgument, Setting, Severity


class ZeroTemperatureSampling(Rule):
    """Sampling is asked for at temperature 0.

    The logits are divided by the temperature before a token is drawn, so that `temperature=0` can't be computed:
    `generate` raises `ValueError`, "`temperature` has to be a strictly positive float". Other inference APIs take it for
    greedy search; in transformers that is `do_sample=False`, without a temperature.
    """

    code = "LLM202"
    severity = Severity.ERROR
    triggers = ("temperature",)
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("The capital of France is", return_tensors="pt")
output = model.generate(**inputs, max_new_tokens=5, do_sample=True, temperature=0.0)  # <- `model.generate` can't sample at `temperature=0.0`
print(tokenizer.decode(output[0]))
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("The capital of France is", return_tensors="pt")
output = model.generate(**inputs, max_new_tokens=5, do_sample=False, temperature=0.0)
print(tokenizer.decode(output[0]))
""",
        ),
        # A class whose method has a default that raises.
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Judge:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")

    @torch.inference_mode()
    def verdict(self, text, temperature=0):
        ids = self.tokenizer(text, return_tensors="pt").input_ids.to(self.model.device)
        output = self.model.generate(
            ids,
            do_sample=True,
            temperature=temperature,  # <- can't sample at `temperature=0`
            max_new_tokens=3,
        )
        return self.tokenizer.decode(output[0, ids.shape[1]:])
""",
            fixed="""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Judge:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")

    @torch.inference_mode()
    def verdict(self, text, temperature=0):
        ids = self.tokenizer(text, return_tensors="pt").input_ids.to(self.model.device)
        output = self.model.generate(
            ids,
            do_sample=False,
            temperature=temperature,
            max_new_tokens=3,
        )
        return self.tokenizer.decode(output[0, ids.shape[1]:])
""",
        ),
        # A notebook; a pipeline, which hands the settings on.
        Bad(
            {
                "answers.ipynb": [
                    'from transformers import pipeline\n\npipe = pipeline("text-generation", model="gpt2", device=0)\n',
                    'settings = {"do_sample": True, "temperature": 0, "max_new_tokens": 20}  # <- can\'t sample at `temperature=0`\n',
                    'print(pipe("Once upon a time", **settings))\n',
                ]
            },
        ),
        # A helper that samples; the caller in the loop asks for temperature 0.
        Bad("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(1)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def complete(prompt, temperature):
    inputs = tokenizer(prompt, return_tensors="pt")
    return model.generate(**inputs, max_new_tokens=9, do_sample=True, temperature=temperature)

for prompt in ("Once", "Twice"):
    print(tokenizer.decode(complete(prompt, 0.8)[0]))
    print(tokenizer.decode(complete(prompt, 0)[0]))  # <- `model.generate` can't sample at `temperature=0`
"""),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("The capital of France is", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=5, do_sample=False)[0]))
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=5, temperature=0)[0]))
"""),
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("The capital of France is", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=5, do_sample=True, temperature=0.01)[0]))
"""),
        # The temperature decides.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

def complete(prompt, temperature=0.0, do_sample=False):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    inputs = tokenizer(prompt, return_tensors="pt")
    first = model.generate(**inputs, max_new_tokens=9, do_sample=temperature > 0, temperature=temperature)
    second = model.generate(**inputs, max_new_tokens=9, do_sample=do_sample, temperature=temperature)
    if temperature:
        return model.generate(**inputs, max_new_tokens=9, do_sample=True, temperature=temperature)
    return first, second
"""),
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

def complete(prompt, is_greedy):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    inputs = tokenizer(prompt, return_tensors="pt")
    temperature = 0.0 if is_greedy else 0.7
    settings = {"do_sample": not is_greedy, "temperature": temperature}
    return model.generate(**inputs, max_new_tokens=9, do_sample=True, temperature=temperature or 1.0), settings
"""),
        # Elsewhere it means greedy search.
        Good("""\
from openai import OpenAI
from vllm import LLM, SamplingParams

print(LLM("gpt2").generate(["Once upon a time"], SamplingParams(temperature=0)))
print(OpenAI().chat.completions.create(model="gpt-4o", messages=[], temperature=0))
"""),
        # A `generate` of the program's own.
        Good("""\
class Engine:
    def generate(self, prompt, do_sample, temperature):
        return prompt if do_sample and temperature == 0 else prompt[::-1]

print(Engine().generate("Once upon a time", do_sample=True, temperature=0))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        found = {
            one.call.record.id: (one, at) for one in facts.generations() if (at := _zero_temperature(one)) is not None
        }
        calls = [one.call for one, _ in found.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda _: True, in_this_module=True):
            generation, temperature = found[call.record.id]
            asked = generation.setting("do_sample")
            is_here = place == call.place and temperature.place.path == place.path
            is_plain = is_here and asked is not None and asked.is_passed_directly
            yield self.report(
                temperature.place if is_here else place,
                f"`{call.callee}` can't sample at `{temperature.text}`",
                help="take the likeliest token with `do_sample=False`",
                fix=[SetArgument(asked.owner.range, "do_sample", "False")] if is_plain and asked is not None else (),
            )


def _zero_temperature(generation: Generation) -> Setting | None:
    """The temperature, where it raises: no test looks at it first, and tokens are drawn."""
    temperature = generation.setting("temperature")
    values = temperature.constants if temperature is not None else []
    is_zero = len(values) == 1 and isinstance(values[0], (int, float)) and values[0] <= 0
    is_tested = generation.call.is_guarded_by("temperature", "temp", "sample", "greedy")
    return temperature if is_zero and not is_tested and generation.is_sampled is YES else None
