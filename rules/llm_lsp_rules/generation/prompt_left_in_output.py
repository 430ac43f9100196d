"""LLM206 prompt-left-in-output."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class PromptLeftInOutput(Rule):
    """A text is taken for the model's answer that still holds the prompt.

    The output of a decoder-only model begins with its input: decoded whole, it is prompt and answer. Compared with a gold
    answer it never matches, parsed it fails or finds the prompt's numbers, and in a chat it repeats the conversation. Decode
    what stands behind the prompt, `output[:, inputs["input_ids"].shape[1]:]`.

    In a batch that is padded on the left all prompts end at the width of the padded batch. A slice by the length of each
    prompt alone begins inside of the longer ones' padding and leaves the end of the shorter prompts in.

    Only a text is reported that is compared, read as a value, scored, or stored as an answer (`{"role": "assistant"}`,
    `{"answer": ...}`); printing prompt and answer together is innocent. So is text that the program takes apart, and the output
    of encoder-decoder models, which holds no prompt.
    """

    code = "LLM206"
    severity = Severity.WARNING
    triggers = ("generate(",)
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def accuracy(rows):
    right = 0
    for prompt, gold in rows:
        inputs = tokenizer(prompt, return_tensors="pt")
        output = model.generate(**inputs, max_new_tokens=5)
        text = tokenizer.decode(output[0], skip_special_tokens=True)  # <- this text still holds the prompt
        right += text.strip() == gold
    return right / len(rows)
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def accuracy(rows):
    right = 0
    for prompt, gold in rows:
        inputs = tokenizer(prompt, return_tensors="pt")
        output = model.generate(**inputs, max_new_tokens=5)
        text = tokenizer.decode(output[0][inputs["input_ids"].shape[1]:], skip_special_tokens=True)
        right += text.strip() == gold
    return right / len(rows)
""",
        ),
        # A class whose methods share the model; what it says goes on in the conversation.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Chat:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.messages = []

    def complete(self):
        inputs = self.tokenizer.apply_chat_template(
            self.messages, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
        output = self.model.generate(**inputs, max_new_tokens=50, do_sample=False)
        return self.tokenizer.decode(output[0], skip_special_tokens=True)  # <- this text still holds the prompt

    def say(self, text):
        self.messages.append({"role": "user", "content": text})
        self.messages.append({"role": "assistant", "content": self.complete()})
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Chat:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)
        self.messages = []

    def complete(self):
        inputs = self.tokenizer.apply_chat_template(
            self.messages, add_generation_prompt=True, return_dict=True, return_tensors="pt"
        )
        output = self.model.generate(**inputs, max_new_tokens=50, do_sample=False)
        return self.tokenizer.decode(output[0][inputs["input_ids"].shape[1]:], skip_special_tokens=True)

    def say(self, text):
        self.messages.append({"role": "user", "content": text})
        self.messages.append({"role": "assistant", "content": self.complete()})
""",
        ),
        # A notebook; a batch that is padded on the left, cut by each prompt's own length.
        Bad(
            {
                "score.ipynb": [
                    "from transformers import AutoModelForCausalLM, AutoTokenizer\n",
                    """\
tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")
""",
                    """\
def answers(prompts):
    lengths = [len(ids) for ids in tokenizer(prompts)["input_ids"]]
    inputs = tokenizer(prompts, padding=True, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=5)
    return [tokenizer.decode(row[length:]) for row, length in zip(output, lengths)]  # <- leaves a part of the prompt
""",
                    """\
def others(prompts):
    inputs = tokenizer(prompts, padding=True, return_tensors="pt")
    widths = inputs["attention_mask"].sum(dim=1)
    output = model.generate(**inputs, max_new_tokens=5)
    for row, width in zip(output, widths):
        yield tokenizer.decode(row[width:])  # <- leaves a part of the prompt
""",
                ]
            }
        ),
        # A helper that a loop calls; what it returns is read as a value.
        Bad(
            """\
import json

from transformers import AutoTokenizer, GPT2LMHeadModel

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")

def complete(prompts):
    batch = tokenizer(prompts, return_tensors="pt")
    output = model.generate(**batch, max_new_tokens=50)
    return tokenizer.batch_decode(output)  # <- this text still holds the prompt

for prompt in ("one", "two"):
    print(json.loads(complete([prompt])[0]))
""",
            fixed="""\
import json

from transformers import AutoTokenizer, GPT2LMHeadModel

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")

def complete(prompts):
    batch = tokenizer(prompts, return_tensors="pt")
    output = model.generate(**batch, max_new_tokens=50)
    return tokenizer.batch_decode(output[:, batch["input_ids"].shape[1]:])

for prompt in ("one", "two"):
    print(json.loads(complete([prompt])[0]))
""",
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def accuracy(rows):
    right = 0
    for prompt, gold in rows:
        inputs = tokenizer(prompt, return_tensors="pt")
        output = model.generate(**inputs, max_new_tokens=5)
        right += tokenizer.decode(output[0, inputs["input_ids"].shape[1]:]).strip() == gold
    return right / len(rows)
"""),
        # Printed as it is, or given to a caller who may know.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def story(prompt):
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=50)
    return tokenizer.decode(output[0], skip_special_tokens=True)

print(story("Once upon a time"))
"""),
        # The text is taken apart; the prompt is taken off it.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

def first(prompt):
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=50)
    return {"answer": tokenizer.decode(output[0]).split("Answer:")[-1]}

def second(prompt):
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=50)
    return {"answer": tokenizer.decode(output[0])[len(prompt):]}

def fixed(prompt):
    inputs = tokenizer(prompt, padding="max_length", max_length=64, return_tensors="pt")
    return {"answer": tokenizer.decode(model.generate(**inputs, max_new_tokens=50)[0, 64:])}

def third(prompt):
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=50)
    return {"answer": tokenizer.decode(output[0]).replace(prompt, "")}
"""),
        # Two models write the same, prompt and all; an expected text that is written here begins with the prompt.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
other = AutoModelForCausalLM.from_pretrained("./converted")
inputs = tokenizer("The sky", return_tensors="pt")
text = tokenizer.decode(model.generate(**inputs, max_new_tokens=5)[0])
print(text == tokenizer.decode(other.generate(**inputs, max_new_tokens=5)[0]), text == "The sky is blue")
"""),
        # An encoder-decoder model's output holds no prompt; nor does what follows embeddings.
        Good("""\
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google/flan-t5-base")
model = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
words = AutoTokenizer.from_pretrained("gpt2")
other = AutoModelForCausalLM.from_pretrained("gpt2")

def answer(text, gold, vectors):
    output = model.generate(**tokenizer(text, return_tensors="pt"), max_new_tokens=50)
    written = words.decode(other.generate(inputs_embeds=vectors, max_new_tokens=5)[0])
    return tokenizer.decode(output[0]) == gold, written == gold
"""),
        # The width of the padded batch.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

def answers(prompts):
    inputs = tokenizer(prompts, padding=True, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=5)
    widths = [len(ids) for ids in inputs["input_ids"]]
    return [tokenizer.decode(row[width:]) for row, width in zip(output, widths)]

def one(prompt):
    length = len(tokenizer(prompt)["input_ids"])
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=5)
    return {"answer": tokenizer.decode(output[0][length:])}
"""),
        # What becomes of it nobody sees, or a function of the program's takes the prompt off.
        Good("""\
from company import clean
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")

def strip(text, prompt):
    return text.removeprefix(prompt)

def answers(prompt):
    output = model.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=50)
    text = tokenizer.decode(output[0])
    return [{"answer": clean(text)}, {"answer": strip(text, prompt)}]
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        written = (one for one in facts.written_texts() if not one.call.is_in_a_test)
        texts = [one for one in written if one.holds_prompt is YES and one.is_used_as_answer is YES]
        found = {one.call.record.id: one for one in texts}
        for call, place in facts.where_all_chains_agree(
            [one.call for one in texts], lambda _: True, in_this_module=True
        ):
            text = found[call.record.id]
            without = text.without_prompt if place == call.place else None
            is_part = text.is_cut_by_another_width
            yield self.report(
                place,
                "this leaves a part of the prompt in, as the batch is padded on the left"
                if is_part
                else "this text still holds the prompt, and is used as the answer",
                related=[(text.generation_place, "generated here")],
                help="leave out as many tokens as `input_ids` is wide",
                fix=[Replace(*without)] if without is not None else (),
            )
