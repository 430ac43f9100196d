"""LLM201 sampling-argument-without-sampling."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Facts, Generation, Good, Place, Report, Rule, SetArgument, Severity


class SamplingArgumentWithoutSampling(Rule):
    """A setting of sampling is passed to a `generate` that does not sample.

    `temperature`, `top_p`, `top_k`, `min_p` and `typical_p` say how the next token is drawn. Unless `do_sample=True` is
    passed, or the checkpoint's `generation_config.json` says so, nothing is drawn: `generate` takes the likeliest token, or
    searches beams, and the settings are ignored. Output that does not change with the temperature, and metrics that are
    those of greedy search, are how one notices; transformers logs one line. Pass `do_sample=True`, or drop the settings.

    Many checkpoints for conversations sample by themselves. So where `do_sample` is not written, only a checkpoint is
    judged whose file says that it does not, or whose family is known not to. Values that mean no sampling
    (`temperature=0`, `top_k=1`) or change nothing (`top_p=1.0`) are innocent, and so is contrastive search, which reads `top_k`.
    """

    code = "LLM201"
    severity = Severity.WARNING
    triggers = ("temperature", "top_p", "top_k", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff")
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def stories(prompt, count=5):
    inputs = tokenizer(prompt, return_tensors="pt")
    for _ in range(count):
        output = model.generate(
            **inputs, max_new_tokens=40, temperature=0.9  # <- `temperature=0.9` has no effect, `model.generate` does not sample
        )
        yield tokenizer.decode(output[0])
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def stories(prompt, count=5):
    inputs = tokenizer(prompt, return_tensors="pt")
    for _ in range(count):
        output = model.generate(
            **inputs, max_new_tokens=40, temperature=0.9, do_sample=True
        )
        yield tokenizer.decode(output[0])
""",
        ),
        # A class; sampling is switched off where the settings are passed, whatever the checkpoint says.
        Bad("""\
class Writer:
    def __init__(self, model, tokenizer):
        self.model = model
        self.tokenizer = tokenizer

    def write(self, prompt, temperature):
        batch = self.tokenizer([prompt], return_tensors="pt")
        output = self.model.generate(
            **batch,
            max_new_tokens=64,
            do_sample=False,
            temperature=temperature,  # <- `temperature`, `top_p=0.9` have no effect
            top_p=0.9,
        )
        return self.tokenizer.decode(output[0])
"""),
        # A notebook; the settings have an object of their own.
        Bad(
            {
                "answers.ipynb": [
                    "from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig, set_seed\n",
                    """\
set_seed(3)
tokenizer = AutoTokenizer.from_pretrained("google/flan-t5-base")
model = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
config = GenerationConfig(max_new_tokens=32, top_k=20)  # <- `top_k=20` has no effect
""",
                    """\
inputs = tokenizer("Translate to German: good morning", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, generation_config=config)[0]))
""",
                ]
            },
            fixed={
                "answers.ipynb": [
                    "from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, GenerationConfig, set_seed\n",
                    """\
set_seed(3)
tokenizer = AutoTokenizer.from_pretrained("google/flan-t5-base")
model = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
config = GenerationConfig(max_new_tokens=32, top_k=20, do_sample=True)
""",
                    """\
inputs = tokenizer("Translate to German: good morning", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, generation_config=config)[0]))
""",
                ]
            },
        ),
        # One helper; the caller that passes sampling settings to it, from a dictionary, is at fault.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("./tuned")
model = AutoModelForCausalLM.from_pretrained("./tuned")
SETTINGS = {
    "max_new_tokens": 20,
    "temperature": 0.7,  # <- `temperature=0.7` has no effect
}

def complete(prompt):
    return model.generate(**tokenizer(prompt, return_tensors="pt"), **SETTINGS)

for prompt in ("Once", "Twice"):
    print(tokenizer.decode(complete(prompt)[0]))
""",
            checkpoints={
                "tuned": {
                    "config.json": '{"model_type": "llama", "vocab_size": 32000}',
                    "generation_config.json": '{"bos_token_id": 1, "eos_token_id": 2}',
                }
            },
        ),
        # The helper is innocent: one of its callers samples.
        Bad("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")

def complete(prompt, do_sample):
    inputs = tokenizer(prompt, return_tensors="pt")
    return model.generate(**inputs, max_new_tokens=9, do_sample=do_sample, temperature=0.6)

for prompt in ("Once", "Twice"):
    print(tokenizer.decode(complete(prompt, True)[0]))
    print(tokenizer.decode(complete(prompt, False)[0]))  # <- `temperature=0.6` has no effect
"""),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("Once upon a time", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=40, do_sample=True, temperature=0.9)[0]))
"""),
        # Many checkpoints for conversations sample by themselves.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
name = "Qwen/Qwen2.5-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)
inputs = tokenizer("Hello", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=40, temperature=0.9, top_p=0.8)[0]))
"""),
        # These say that the likeliest token is wanted, or change nothing.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("Once upon a time", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=40, temperature=0.0)[0]))
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=40, do_sample=False, top_k=1, top_p=1.0)[0]))
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=40, do_sample=False, temperature=None)[0]))
"""),
        # A file says that it samples.
        Good(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("./tuned")
model = AutoModelForCausalLM.from_pretrained("./tuned")
inputs = tokenizer("Once upon a time", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=40, temperature=0.5)[0]))
""",
            checkpoints={
                "tuned": {
                    "config.json": '{"model_type": "gpt2", "vocab_size": 50257}',
                    "generation_config.json": '{"do_sample": true, "top_k": 20}',
                }
            },
        ),
        # The program says so elsewhere.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
first = AutoModelForCausalLM.from_pretrained("gpt2")
first.generation_config.do_sample = True
second = AutoModelForCausalLM.from_pretrained("gpt2")
second.generation_config = GenerationConfig(do_sample=True)
third = AutoModelForCausalLM.from_pretrained("gpt2")
third.generation_config.update(do_sample=True)
config = GenerationConfig(top_p=0.9, max_new_tokens=9)
config.do_sample = True
inputs = tokenizer("Once upon a time", return_tensors="pt")
for model in (first, second, third):
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens=9, top_p=0.9)[0]))
fourth = AutoModelForCausalLM.from_pretrained("gpt2")
print(tokenizer.decode(fourth.generate(**inputs, generation_config=config, top_p=0.9)[0]))
"""),
        # It depends on the temperature, or on who calls.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
def complete(prompt, temperature=0.7, do_sample=False, **settings):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    inputs = tokenizer(prompt, return_tensors="pt")
    first = model.generate(**inputs, max_new_tokens=9, do_sample=temperature > 0, temperature=temperature)
    second = model.generate(**inputs, max_new_tokens=9, do_sample=do_sample, temperature=temperature)
    third = model.generate(**inputs, max_new_tokens=9, temperature=temperature, **settings)
    return [tokenizer.decode(one[0]) for one in (first, second, third)]
"""),
        # Contrastive search reads `top_k`.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("Once upon a time", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_new_tokens=40, penalty_alpha=0.6, top_k=4)[0]))
"""),
        # Text-generation pipelines sample by default; other APIs know no `do_sample`.
        Good("""\
from openai import OpenAI
from transformers import pipeline, set_seed

from vllm import LLM, SamplingParams

set_seed(0)

print(pipeline("text-generation", model="gpt2")("Once upon a time", temperature=0.9))
print(LLM("gpt2").generate(["Once upon a time"], SamplingParams(temperature=0.8, top_p=0.95)))
print(OpenAI().chat.completions.create(model="gpt-4o", messages=[], temperature=0.2))
"""),
        # One dictionary for both ways.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

set_seed(0)
tokenizer = AutoTokenizer.from_pretrained("./tuned")
model = AutoModelForCausalLM.from_pretrained("./tuned")
shared = {"temperature": 0.7, "max_new_tokens": 20}
inputs = tokenizer("Once upon a time", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, **shared, do_sample=True)[0]))
print(tokenizer.decode(model.generate(**inputs, **shared, do_sample=False)[0]))
"""),
        # Whisper takes a temperature, or several, to fall back to; of others nothing is known.
        Good("""\
from transformers import AutoModelForCausalLM, WhisperForConditionalGeneration, set_seed

set_seed(0)
def run(features, ids, name):
    whisper = WhisperForConditionalGeneration.from_pretrained("openai/whisper-small")
    model = AutoModelForCausalLM.from_pretrained(name)
    return whisper.generate(features, temperature=0.2), model.generate(ids, max_new_tokens=5, temperature=0.2)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        found = {one.call.record.id: one for one in facts.generations() if _is_ignored(one)}
        calls = [one.call for one in found.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda _: True, in_this_module=True):
            generation = found[call.record.id]
            settings = generation.for_sampling
            is_here = place == call.place and settings[0].place.path == place.path
            names = ", ".join(f"`{setting.text}`" for setting in settings)
            yield self.report(
                settings[0].place if is_here else place,
                f"{names} {'has' if len(settings) == 1 else 'have'} no effect, `{call.callee}` does not sample",
                help="sample with `do_sample=True`, or drop what only sampling reads",
                fix=_sampling(generation, place),
                fix_message="sample with `do_sample=True`",
            )


def _is_ignored(generation: Generation) -> bool:
    """Whether settings for sampling are passed, and switched off no further away than they are written."""
    settings, asked = generation.for_sampling, generation.setting("do_sample")
    if not settings or generation.is_sampled is not NO:
        return False
    return asked is None or all(one.is_passed_directly or not asked.is_passed_directly for one in settings)


def _sampling(generation: Generation, place: Place) -> list[SetArgument]:
    """`do_sample=True` beside the settings, where nothing switches sampling off and they are passed directly."""
    settings = generation.for_sampling
    is_plain = place == generation.call.place and all(setting.is_passed_directly for setting in settings)
    if generation.setting("do_sample") is not None or not is_plain:
        return []
    return [SetArgument(settings[0].owner.range, "do_sample", "True")]
