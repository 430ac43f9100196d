"""LLM109 double-bos."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, SetArgument, Severity


class DoubleBos(Rule):
    """A text that a chat template made is tokenized with special tokens, so that it begins with two of them.

    The chat templates of Llama, Mistral and Gemma write the token that begins a text themselves, and their tokenizers put
    one before whatever they are given. A conversation that is rendered with `tokenize=False` and tokenized afterwards
    begins with two: a model that is tuned on that is tuned on what it never saw, and one that answers does so a little
    worse, without a word. Tokenize with `add_special_tokens=False`, or let `apply_chat_template` return the ids.

    Only checkpoints whose published template and tokenizer both write it are reported. Nothing is said where the
    program sets a template or the token itself, or takes something off the text, or tokenizes it elsewhere.
    """

    code = "LLM109"
    severity = Severity.WARNING
    triggers = ("apply_chat_template",)
    bad = [
        Bad(
            """\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")

def encode(messages):
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    return tokenizer(text, return_tensors="pt")  # <- begins with two
""",
            fixed="""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")

def encode(messages):
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    return tokenizer(text, return_tensors="pt", add_special_tokens=False)
""",
        ),
        # A class whose methods share the tokenizer.
        Bad(
            """\
from torch.utils.data import Dataset
from transformers import AutoTokenizer

class Chats(Dataset):
    def __init__(self, chats, name="google/gemma-2-2b-it"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.chats = chats

    def __len__(self):
        return len(self.chats)

    def render(self, chat):
        return self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=False)

    def __getitem__(self, index):
        return self.tokenizer(self.render(self.chats[index]) + self.tokenizer.eos_token)["input_ids"]  # <- begins with two
""",
            fixed="""\
from torch.utils.data import Dataset
from transformers import AutoTokenizer

class Chats(Dataset):
    def __init__(self, chats, name="google/gemma-2-2b-it"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.chats = chats

    def __len__(self):
        return len(self.chats)

    def render(self, chat):
        return self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=False)

    def __getitem__(self, index):
        return self.tokenizer(self.render(self.chats[index]) + self.tokenizer.eos_token, add_special_tokens=False)["input_ids"]
""",
        ),
        # Notebook cells; a batch of texts, and a helper that a loop calls.
        Bad(
            {
                "chat.ipynb": [
                    """\
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "mistralai/Mistral-7B-Instruct-v0.3"
tokenizer = AutoTokenizer.from_pretrained(NAME, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(NAME)
""",
                    """\
def ids_of(texts):
    return tokenizer(texts, padding=True, return_tensors="pt")  # <- begins with two

for question in ("Why?", "How?"):
    chats = [[{"role": "user", "content": question}], [{"role": "user", "content": question + " Be brief."}]]
    texts = [tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) for chat in chats]
    print(model.generate(**ids_of(texts), max_new_tokens=50))
""",
                    """\
text = tokenizer.apply_chat_template(chats[0], tokenize=False)
ids = tokenizer.encode(text, add_special_tokens=True)  # <- begins with two
""",
                ]
            },
            fixed={
                "chat.ipynb": [
                    """\
from transformers import AutoModelForCausalLM, AutoTokenizer

NAME = "mistralai/Mistral-7B-Instruct-v0.3"
tokenizer = AutoTokenizer.from_pretrained(NAME, padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained(NAME)
""",
                    """\
def ids_of(texts):
    return tokenizer(texts, padding=True, return_tensors="pt", add_special_tokens=False)

for question in ("Why?", "How?"):
    chats = [[{"role": "user", "content": question}], [{"role": "user", "content": question + " Be brief."}]]
    texts = [tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True) for chat in chats]
    print(model.generate(**ids_of(texts), max_new_tokens=50))
""",
                    """\
text = tokenizer.apply_chat_template(chats[0], tokenize=False)
ids = tokenizer.encode(text, add_special_tokens=False)
""",
                ]
            },
        ),
    ]
    good = [
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")

def encode(messages):
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    return tokenizer(text, return_tensors="pt", add_special_tokens=False)
"""),
        # The template returns ids; a text that no template made.
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")

def encode(messages, text):
    ids = tokenizer.apply_chat_template(messages, return_dict=True, return_tensors="pt")
    return ids, tokenizer(text, return_tensors="pt"), tokenizer("a constant")
"""),
        # Template or tokenizer writes none; nothing is known of the checkpoint.
        Good("""\
from transformers import AutoTokenizer

def encode(messages, name):
    found = []
    for each in ("Qwen/Qwen2.5-0.5B-Instruct", "HuggingFaceH4/zephyr-7b-beta"):
        one = AutoTokenizer.from_pretrained(each)
        found.append(one(one.apply_chat_template(messages, tokenize=False)))
    other = AutoTokenizer.from_pretrained(name)
    third = AutoTokenizer.from_pretrained("somebody/Llama-3-8B-Instruct-tuned")
    found.append(third(third.apply_chat_template(messages, tokenize=False)))
    return [*found, other(other.apply_chat_template(messages, tokenize=False))]
"""),
        # The program decides how texts begin.
        Good("""\
from transformers import AutoTokenizer

NAME = "mistralai/Mistral-7B-Instruct-v0.2"

def encode(messages, template, is_chat):
    first = AutoTokenizer.from_pretrained(NAME, add_bos_token=False)
    second = AutoTokenizer.from_pretrained(NAME)
    second.chat_template = template
    third = AutoTokenizer.from_pretrained(NAME)
    fourth = AutoTokenizer.from_pretrained(NAME)
    fourth.add_bos_token = False
    texts = [one.apply_chat_template(messages, tokenize=False) for one in (first, second)]
    own = third.apply_chat_template(messages, tokenize=False, chat_template=template)
    either = third.apply_chat_template(messages, tokenize=is_chat)
    asked = third.apply_chat_template(messages, tokenize=False)
    return (
        first(first.apply_chat_template(messages, tokenize=False)),
        second(second.apply_chat_template(messages, tokenize=False)),
        third(own),
        third(either),
        third(asked, add_special_tokens=not is_chat),
        fourth(fourth.apply_chat_template(messages, tokenize=False)),
        texts,
    )
"""),
        # Something is taken off the text, here or in code that is not seen.
        Good("""\
from cleaning import without_bos
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-3.1-8B-Instruct")

def encode(messages):
    text = tokenizer.apply_chat_template(messages, tokenize=False).removeprefix(tokenizer.bos_token)
    return tokenizer(text)

def other(messages):
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    if text.startswith(tokenizer.bos_token):
        text = text[len(tokenizer.bos_token) :]
    return tokenizer(text)

def third(messages):
    text = tokenizer.apply_chat_template(messages, tokenize=False)
    return tokenizer(without_bos(text))
"""),
        # A dataset with texts of both kinds, told apart where they are tokenized.
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("google/gemma-2-2b-it")

def encode(rows):
    rows = rows.map(lambda row: {"chat": tokenizer.apply_chat_template(row["messages"], tokenize=False), "raw": row["raw"]})
    return rows.map(lambda row: tokenizer(row["raw"])), rows.map(lambda row: tokenizer(row["chat"], add_special_tokens=False))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for chat in facts.rendered_chats():
            if chat.doubles_bos is YES:
                yield self.report(
                    chat.call.place,
                    "this text begins with two tokens for its beginning: the chat template has written one already",
                    related=[(chat.template_place, "the template")],
                    help="pass `add_special_tokens=False`",
                    fix=[SetArgument(chat.call.place.range, "add_special_tokens", "False")],
                )
