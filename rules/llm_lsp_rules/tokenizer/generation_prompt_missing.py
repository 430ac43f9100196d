"""LLM110 generation-prompt-missing."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Facts, Good, Report, Rule, SetArgument, Severity


class GenerationPromptMissing(Rule):
    """A conversation is given to `generate` without the header that begins an answer.

    A chat template ends each turn with a marker. Only with `add_generation_prompt=True` does it write the header of the
    assistant's turn after the last one. Without it the model may write anything next: more of the user's turn, a header of
    its own, which then stands in the answer, or nothing. In training whole conversations want no such header, which is why it
    is off by default.

    Nothing is said of conversations that end with the assistant's own words, of `continue_final_message`, of prompts to
    which the program itself adds something, and of the templates of Mistral and Llama 2, which have no such header.
    """

    code = "LLM110"
    severity = Severity.WARNING
    triggers = ("apply_chat_template",)
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)

def answer(question):
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, tokenize=False)  # <- prompt does not begin an answer
    inputs = tokenizer([text], add_special_tokens=False, return_tensors="pt").to(model.device)
    output = model.generate(**inputs, do_sample=False, max_new_tokens=50)
    return tokenizer.decode(output[0, inputs.input_ids.shape[1]:])
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)

def answer(question):
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    inputs = tokenizer([text], add_special_tokens=False, return_tensors="pt").to(model.device)
    output = model.generate(**inputs, do_sample=False, max_new_tokens=50)
    return tokenizer.decode(output[0, inputs.input_ids.shape[1]:])
""",
        ),
        # A class whose methods share the tokenizer; the template gives ids.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Chat:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")

    def encode(self, messages):
        return self.tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True)  # <- not begin an answer

    def reply(self, messages):
        inputs = self.encode(messages).to(self.model.device)
        output = self.model.generate(**inputs, do_sample=False, max_new_tokens=100)
        return self.tokenizer.decode(output[0, inputs["input_ids"].shape[1]:])
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

class Chat:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name, device_map="auto")

    def encode(self, messages):
        return self.tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True, add_generation_prompt=True)

    def reply(self, messages):
        inputs = self.encode(messages).to(self.model.device)
        output = self.model.generate(**inputs, do_sample=False, max_new_tokens=100)
        return self.tokenizer.decode(output[0, inputs["input_ids"].shape[1]:])
""",
        ),
        # A notebook with vLLM, for several conversations.
        Bad(
            {
                "chat.ipynb": [
                    "from transformers import AutoTokenizer\nfrom vllm import LLM, SamplingParams\n",
                    'name = "Qwen/Qwen2.5-0.5B-Instruct"\ntokenizer = AutoTokenizer.from_pretrained(name)\nllm = LLM(name)\n',
                    """\
chats = [[{"role": "user", "content": question}] for question in ("What?", "Why?")]
for chat in chats:
    text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=False)  # <- does not begin an answer
    print(llm.generate(text, SamplingParams(temperature=0)))
""",
                ]
            },
            fixed={
                "chat.ipynb": [
                    "from transformers import AutoTokenizer\nfrom vllm import LLM, SamplingParams\n",
                    'name = "Qwen/Qwen2.5-0.5B-Instruct"\ntokenizer = AutoTokenizer.from_pretrained(name)\nllm = LLM(name)\n',
                    """\
chats = [[{"role": "user", "content": question}] for question in ("What?", "Why?")]
for chat in chats:
    text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    print(llm.generate(text, SamplingParams(temperature=0)))
""",
                ]
            },
        ),
        # A helper that a loop calls.
        Bad(
            """\
from transformers import AutoTokenizer, pipeline

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
pipe = pipeline("text-generation", model="Qwen/Qwen2.5-0.5B-Instruct", tokenizer=tokenizer, device=0)

def prompt(question):
    return tokenizer.apply_chat_template([{"role": "user", "content": question}], tokenize=False)  # <- not begin an answer

for question in ("What?", "Why?"):
    print(pipe(prompt(question), max_new_tokens=20, do_sample=False))
""",
            fixed="""\
from transformers import AutoTokenizer, pipeline

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
pipe = pipeline("text-generation", model="Qwen/Qwen2.5-0.5B-Instruct", tokenizer=tokenizer, device=0)

def prompt(question):
    return tokenizer.apply_chat_template([{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True)

for question in ("What?", "Why?"):
    print(pipe(prompt(question), max_new_tokens=20, do_sample=False))
""",
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "HuggingFaceTB/SmolLM2-135M-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)

def answer(question):
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    inputs = tokenizer(text, add_special_tokens=False, return_tensors="pt")
    output = model.generate(**inputs, do_sample=False, max_new_tokens=50)
    return tokenizer.decode(output[0, inputs.input_ids.shape[1]:])
"""),
        # Whole conversations are learnt.
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")

def encode(row):
    text = tokenizer.apply_chat_template(row["messages"], tokenize=False)
    return tokenizer(text, add_special_tokens=False)
"""),
        # The answer has begun; the program begins it; the template is the program's own.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "Qwen/Qwen2.5-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)
other = AutoTokenizer.from_pretrained(name)
other.chat_template = open("template.jinja").read()

def answers(question, **settings):
    asked = [{"role": "user", "content": question}]
    begun = [*asked, {"role": "assistant", "content": "Well,"}]
    written = [{"role": "user", "content": question}, {"role": "assistant", "content": "{"}]
    texts = [
        tokenizer.apply_chat_template(begun, tokenize=False, continue_final_message=True),
        tokenizer.apply_chat_template(written, tokenize=False),
        tokenizer.apply_chat_template(asked, tokenize=False) + "<|im_start|>assistant\\n",
        other.apply_chat_template(asked, tokenize=False),
        tokenizer.apply_chat_template(asked, tokenize=False, **settings),
    ]
    for text in texts:
        inputs = tokenizer(text, add_special_tokens=False, return_tensors="pt")
        yield tokenizer.decode(model.generate(**inputs, do_sample=False, max_new_tokens=50)[0])
"""),
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "Qwen/Qwen2.5-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)

def answer(question):
    text = tokenizer.apply_chat_template([{"role": "user", "content": question}], tokenize=False)
    text = f"{text}<|im_start|>assistant\\n"
    inputs = tokenizer([text], add_special_tokens=False, return_tensors="pt")
    return tokenizer.decode(model.generate(**inputs, do_sample=False, max_new_tokens=50)[0])

def prefilled(question):
    messages = [{"role": "user", "content": question}, {"role": "assistant", "content": "{"}]
    ids = tokenizer.apply_chat_template(messages, return_tensors="pt", return_dict=True)["input_ids"]
    return model.generate(ids[:, :-2], do_sample=False, max_new_tokens=50)
"""),
        # Templates without such a header, and a caller who decides.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "mistralai/Mistral-7B-Instruct-v0.2"
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name)

def answer(question):
    ids = tokenizer.apply_chat_template([{"role": "user", "content": question}], return_tensors="pt", return_dict=False)
    return tokenizer.decode(model.generate(ids, do_sample=False, max_new_tokens=50)[0])

def run(other, messages, add_generation_prompt):
    template = AutoTokenizer.from_pretrained(other)
    text = template.apply_chat_template(messages, tokenize=False, add_generation_prompt=add_generation_prompt)
    return model.generate(**template(text, return_tensors="pt"), do_sample=False, max_new_tokens=50)
"""),
        # Another `apply_chat_template`.
        Good("""\
class Template:
    def apply_chat_template(self, messages):
        return "\\n".join(message["content"] for message in messages) + "\\nAnswer:"

def answer(model, messages):
    return model.generate(Template().apply_chat_template(messages))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        found = {one.call.record.id: one for one in facts.chat_prompts() if one.begins_answer is NO}
        calls = [one.call for one in found.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda _: True, in_this_module=True):
            is_here = place == call.place
            yield self.report(
                place,
                "this prompt does not begin an answer, `add_generation_prompt` is off",
                related=[(found[call.record.id].generation_place, "continued here")],
                help="pass `add_generation_prompt=True`",
                fix=[SetArgument(place.range, "add_generation_prompt", "True")] if is_here else (),
            )
