"""LLM204 max-length-counts-prompt."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Change, Facts, Generation, Good, Replace, Report, Rule, Severity


class MaxLengthCountsPrompt(Rule):
    """`max_length` limits prompt and answer together, so that a long prompt leaves no room for an answer.

    A decoder-only model continues its prompt: what `generate` returns begins with it, and `max_length` counts it. With a
    prompt of 1,000 tokens `max_length=1024` gives 24 tokens of answer, and a longer prompt gives one token, or an error.
    It works while prompts are short, and fails with the first long one. `max_new_tokens` limits the answer alone.

    The output of encoder-decoder models holds no prompt, so that there both mean the same. Nothing is said where prompts
    are cut to less than `max_length`, or are written in the program and short; where the limit is computed from the prompt,
    or is all that the model takes; and where nothing shows that the model is decoder-only.
    """

    code = "LLM204"
    severity = Severity.WARNING
    triggers = ("max_length",)
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-1b")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b")

def complete(prompt):
    inputs = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**inputs, max_length=256)  # <- `max_length=256` counts the prompt, too
    return tokenizer.decode(output[0, inputs.input_ids.shape[1]:])
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-1b")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b")

def complete(prompt):
    inputs = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=256)
    return tokenizer.decode(output[0, inputs.input_ids.shape[1]:])
""",
        ),
        # A class; the model comes from elsewhere, and what stands before the answer is cut away.
        Bad(
            """\
class Assistant:
    def __init__(self, model, tokenizer, limit=512):
        self.model = model
        self.tokenizer = tokenizer
        self.limit = limit

    def encode(self, question):
        return self.tokenizer(question, return_tensors="pt").input_ids.to(self.model.device)

    def answer(self, question):
        ids = self.encode(question)
        output = self.model.generate(ids, do_sample=False, max_length=512, num_beams=2)  # <- `max_length=512` counts the prompt
        return self.tokenizer.decode(output[0][len(ids[0]):], skip_special_tokens=True)
""",
            fixed="""\
class Assistant:
    def __init__(self, model, tokenizer, limit=512):
        self.model = model
        self.tokenizer = tokenizer
        self.limit = limit

    def encode(self, question):
        return self.tokenizer(question, return_tensors="pt").input_ids.to(self.model.device)

    def answer(self, question):
        ids = self.encode(question)
        output = self.model.generate(ids, do_sample=False, max_new_tokens=512, num_beams=2)
        return self.tokenizer.decode(output[0][len(ids[0]):], skip_special_tokens=True)
""",
        ),
        # A notebook with a pipeline, and settings in an object of their own.
        Bad(
            {
                "answers.ipynb": [
                    """\
from transformers import AutoTokenizer, GenerationConfig, GPT2LMHeadModel, pipeline

config = GenerationConfig(max_length=200)  # <- `max_length=200` counts the prompt
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
pipe = pipeline("text-generation", model=model, tokenizer=tokenizer, device=0)
""",
                    """\
prompts = open("prompts.txt", encoding="utf-8").readlines()
for prompt in prompts:
    ids = tokenizer.encode(prompt, return_tensors="pt")
    print(tokenizer.decode(model.generate(ids, generation_config=config)[0]))
    print(pipe(prompt, max_length=100))  # <- `max_length=100` counts the prompt
""",
                ]
            },
            fixed={
                "answers.ipynb": [
                    """\
from transformers import AutoTokenizer, GenerationConfig, GPT2LMHeadModel, pipeline

config = GenerationConfig(max_new_tokens=200)
""",
                    """\
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
pipe = pipeline("text-generation", model=model, tokenizer=tokenizer, device=0)
""",
                    """\
prompts = open("prompts.txt", encoding="utf-8").readlines()
for prompt in prompts:
    ids = tokenizer.encode(prompt, return_tensors="pt")
    print(tokenizer.decode(model.generate(ids, generation_config=config)[0]))
    print(pipe(prompt, max_new_tokens=100))
""",
                ]
            },
        ),
        # One helper for both kinds of models: the call with the decoder-only one is at fault.
        Bad("""\
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

def run(model, tokenizer, text):
    inputs = tokenizer(text, return_tensors="pt")
    return tokenizer.decode(model.generate(**inputs, max_length=128)[0])

reader = AutoTokenizer.from_pretrained("google/flan-t5-base")
flan = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
writer = AutoTokenizer.from_pretrained("facebook/opt-1.3b")
opt = AutoModelForCausalLM.from_pretrained("facebook/opt-1.3b")
for line in open("tasks.txt", encoding="utf-8"):
    print(run(flan, reader, line))
    print(run(opt, writer, line))  # <- `max_length=128` counts the prompt
"""),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-1b")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b")

def complete(prompt):
    inputs = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=256)
    return tokenizer.decode(output[0, inputs.input_ids.shape[1]:])
"""),
        # The output of an encoder-decoder model holds no prompt.
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, T5ForConditionalGeneration

def summarize(text):
    tokenizer = AutoTokenizer.from_pretrained("google/flan-t5-base")
    model = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
    other = T5ForConditionalGeneration.from_pretrained("./tuned")
    inputs = tokenizer(text, return_tensors="pt")
    both = model.generate(**inputs, max_length=128), other.generate(inputs.input_ids, max_length=64)
    return [tokenizer.decode(one[0]) for one in both]
"""),
        # Prompts are cut to less; or the limit is computed from them.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-1b")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-1b")

def complete(prompt):
    inputs = tokenizer(prompt, truncation=True, max_length=512, return_tensors="pt")
    if inputs.input_ids.shape[1] == 512:
        print("cut")
    ids = tokenizer(prompt, return_tensors="pt").input_ids
    first = model.generate(**inputs, max_length=768)
    second = model.generate(ids, max_length=ids.shape[1] + 50)
    third = model.generate(ids, max_length=len(ids[0]) + 50)
    return [tokenizer.decode(one[0]) for one in (first, second, third)]
"""),
        # A short prompt that is written here; no prompt at all; all that the model takes.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer, pipeline

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
inputs = tokenizer("Once upon a time", return_tensors="pt")
print(tokenizer.decode(model.generate(**inputs, max_length=50)[0]))
print(tokenizer.decode(model.generate(max_length=50)[0]))
print(pipeline("text-generation", model="gpt2", device=0)("Once upon a time", max_length=50))

def complete(prompt):
    ids = tokenizer(prompt, return_tensors="pt").input_ids
    return tokenizer.decode(model.generate(ids, max_length=1024)[0])
"""),
        # The length of a caller's choice, what else may be told, embeddings instead of ids.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Writer:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)

    def write(self, prompt, max_length, **settings):
        inputs = self.tokenizer(prompt, return_tensors="pt")
        vectors = self.model.get_input_embeddings()(inputs.input_ids)
        first = self.model.generate(**inputs, max_length=max_length)
        second = self.model.generate(**inputs, max_length=200, **settings)
        third = self.model.generate(inputs_embeds=vectors, max_length=200)
        fourth = self.model.generate(**inputs, max_length=2000, max_new_tokens=20)
        return [self.tokenizer.decode(one[0]) for one in (first, second, third, fourth)]
"""),
        # Nothing shows what the model is; a `generate` of somebody else's.
        Good("""\
from ctranslate2 import Generator
from transformers import pipeline

def run(model, tokenizer, prompt):
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), do_sample=False, num_beams=2, max_length=100)
    return tokenizer.decode(output[0])

def others(text, tokens):
    translate = pipeline("translation_en_to_de", model="google-t5/t5-small", device=0)
    return translate(text, max_length=100), Generator("folder").generate_batch(tokens, max_length=100)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        found = {one.call.record.id: one for one in facts.generations() if _may_fill_up(one)}
        calls = [one.call for one in found.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda _: True, in_this_module=True):
            limit = found[call.record.id].setting("max_length")
            if limit is not None:
                is_here = place == call.place and limit.place.path == place.path
                change: list[Change] = []
                if is_here and limit.is_passed_directly:
                    written = limit.place.text.replace("max_length", "max_new_tokens", 1)
                    change.append(Replace(limit.place.range, written))
                yield self.report(
                    limit.place if is_here else place,
                    f"`{limit.text}` counts the prompt, too: `{call.callee}` stops before its answer if that is long",
                    help="limit the answer alone with `max_new_tokens`",
                    fix=change,
                )


def _may_fill_up(generation: Generation) -> bool:
    """Whether the prompt takes from what `max_length` gives to the answer."""
    is_other = generation.setting("max_new_tokens") is not None or generation.call.is_in_a_test
    if generation.setting("max_length") is None or is_other:
        return False
    return generation.counts_prompt is YES and generation.leaves_room is NO
