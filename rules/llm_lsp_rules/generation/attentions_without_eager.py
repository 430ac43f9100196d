"""LLM208 attentions-without-eager."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Report, Rule, SetArgument, Severity


class AttentionsWithoutEager(Rule):
    """Attention maps are asked of a model whose attention kernel never holds any.

    `scaled_dot_product_attention`, which transformers takes by itself, and flash attention compute the result without
    writing the weights down. transformers 4 fell back to its own slow attention when it saw `output_attentions=True`.
    transformers 5 doesn't: it warns at most, and `.attentions` is empty, or a tuple of `None`. Load the model with
    `attn_implementation="eager"`, or call `model.set_attn_implementation("eager")` before the maps are needed.

    Only a program that reads the maps is reported, and only where every version of transformers that the project
    allows is 5 or later, or nothing says which it is. Nothing is said where a config that is not just loaded, code from
    the hub or the program itself may choose the implementation, and of models that transformers runs with its own attention anyway.
    """

    code = "LLM208"
    severity = Severity.ERROR
    triggers = ("output_attentions",)
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased")
with torch.no_grad():
    outputs = model(**tokenizer("a word", return_tensors="pt"), output_attentions=True)  # <- `sdpa` gives no attention maps
print(outputs.attentions[-1].mean())
""",
            fixed="""\
import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased", attn_implementation="eager")
with torch.no_grad():
    outputs = model(**tokenizer("a word", return_tensors="pt"), output_attentions=True)
print(outputs.attentions[-1].mean())
""",
        ),
        # Another implementation is asked for; the checkpoint need not be known.
        Bad(
            """\
import sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Heatmap:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(
            name, dtype=torch.bfloat16, attn_implementation="flash_attention_2", device_map="cuda"
        )

    @torch.inference_mode()
    def last_layer(self, text):
        inputs = self.tokenizer(text, return_tensors="pt").to("cuda")
        output = self.model(**inputs, output_attentions=True)  # <- `flash_attention_2` gives no attention maps
        return output["attentions"][-1].mean(dim=1)

print(Heatmap(sys.argv[1]).last_layer("Paris is the capital of"))
""",
            fixed="""\
import sys
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

class Heatmap:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(
            name, dtype=torch.bfloat16, attn_implementation="eager", device_map="cuda"
        )

    @torch.inference_mode()
    def last_layer(self, text):
        inputs = self.tokenizer(text, return_tensors="pt").to("cuda")
        output = self.model(**inputs, output_attentions=True)
        return output["attentions"][-1].mean(dim=1)

print(Heatmap(sys.argv[1]).last_layer("Paris is the capital of"))
""",
            versions={"transformers": ">=5.1"},
        ),
        # A notebook; the class says what the model is.
        Bad(
            {
                "maps.ipynb": [
                    """\
from transformers import T5ForConditionalGeneration, T5Tokenizer

folder = "../runs/summary"
""",
                    """\
tokenizer = T5Tokenizer.from_pretrained(folder)
model = T5ForConditionalGeneration.from_pretrained(folder)
""",
                    """\
def maps(text):
    inputs = tokenizer(text, return_tensors="pt")
    return model.generate(**inputs, max_new_tokens=20, return_dict_in_generate=True, output_attentions=True)  # <- `sdpa`
""",
                    """\
print(len(maps("summarize: all of it").cross_attentions))
""",
                ]
            },
            fixed={
                "maps.ipynb": [
                    """\
from transformers import T5ForConditionalGeneration, T5Tokenizer

folder = "../runs/summary"
""",
                    """\
tokenizer = T5Tokenizer.from_pretrained(folder)
model = T5ForConditionalGeneration.from_pretrained(folder, attn_implementation="eager")
""",
                    """\
def maps(text):
    inputs = tokenizer(text, return_tensors="pt")
    return model.generate(**inputs, max_new_tokens=20, return_dict_in_generate=True, output_attentions=True)
""",
                    """\
print(len(maps("summarize: all of it").cross_attentions))
""",
                ]
            },
        ),
        # Asked for by a generation config, from a loop, by way of a helper.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", attn_implementation="sdpa")
settings = GenerationConfig(max_new_tokens=5, return_dict_in_generate=True, output_attentions=True)

def run(prompt):
    return model.generate(**tokenizer(prompt, return_tensors="pt"), generation_config=settings)  # <- `sdpa` gives no

for prompt in ("one", "two"):
    print(run(prompt).attentions[0][-1].shape)
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", attn_implementation="eager")
settings = GenerationConfig(max_new_tokens=5, return_dict_in_generate=True, output_attentions=True)

def run(prompt):
    return model.generate(**tokenizer(prompt, return_tensors="pt"), generation_config=settings)

for prompt in ("one", "two"):
    print(run(prompt).attentions[0][-1].shape)
""",
        ),
        # As BertViz is fed: the last part of the output.
        Bad(
            """\
from bertviz import head_view
from transformers import AutoTokenizer, BertModel

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = BertModel.from_pretrained("bert-base-uncased")
ids = tokenizer.encode("The cat sat on the mat", return_tensors="pt")
attention = model(ids, output_attentions=True)[-1]  # <- `sdpa` gives no attention maps
head_view(attention, tokenizer.convert_ids_to_tokens(ids[0]))
""",
            fixed="""\
from bertviz import head_view
from transformers import AutoTokenizer, BertModel

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = BertModel.from_pretrained("bert-base-uncased", attn_implementation="eager")
ids = tokenizer.encode("The cat sat on the mat", return_tensors="pt")
attention = model(ids, output_attentions=True)[-1]
head_view(attention, tokenizer.convert_ids_to_tokens(ids[0]))
""",
        ),
        # The config chooses, as it was loaded.
        Bad(
            """\
import torch
from transformers import AutoConfig, AutoModel

config = AutoConfig.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased", config=config)
with torch.no_grad():
    print(model(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])  # <- `sdpa` gives no attention maps
""",
            fixed="""\
import torch
from transformers import AutoConfig, AutoModel

config = AutoConfig.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased", config=config, attn_implementation="eager")
with torch.no_grad():
    print(model(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
""",
        ),
        # The model is told at loading to give maps, and to compute none.
        Bad(
            """\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased", attn_implementation="sdpa", output_attentions=True)  # <- `sdpa`
with torch.no_grad():
    print(model(torch.tensor([[101, 102]])).attentions[-1])
""",
            fixed="""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased", attn_implementation="eager", output_attentions=True)
with torch.no_grad():
    print(model(torch.tensor([[101, 102]])).attentions[-1])
""",
        ),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased", attn_implementation="eager")
with torch.no_grad():
    print(model(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
"""),
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased")
model.set_attn_implementation("eager")
with torch.no_grad():
    print(model(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
"""),
        # transformers 4 falls back by itself.
        Good(
            """\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased")
with torch.no_grad():
    print(model(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
""",
            versions={"transformers": ">=4.40,<6"},
        ),
        # A config chooses, or an attribute of it, or the model or its config that is told at loading to give attentions.
        Good("""\
import torch
from transformers import AutoConfig, AutoModel

config = AutoConfig.from_pretrained("bert-base-uncased", attn_implementation="eager")
first = AutoModel.from_pretrained("bert-base-uncased", config=config)
second = AutoModel.from_pretrained("bert-base-uncased")
second.config._attn_implementation = "eager"
third = AutoModel.from_pretrained("bert-base-uncased", output_attentions=True)
told = AutoConfig.from_pretrained("bert-base-uncased", output_attentions=True)
fourth = AutoModel.from_pretrained("bert-base-uncased", config=told)
changed = AutoConfig.from_pretrained("bert-base-uncased")
changed._attn_implementation = "eager"
fifth = AutoModel.from_pretrained("bert-base-uncased", config=changed)
with torch.no_grad():
    print(first(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
    print(second(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
    print(third(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
    print(fourth(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
    print(fifth(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
"""),
        # Nobody knows what else the config says.
        Good("""\
import torch
from project import settings
from transformers import AutoConfig, AutoModel, BertConfig

given = AutoModel.from_pretrained("bert-base-uncased", config=settings.config)
made = AutoModel.from_pretrained("bert-base-uncased", config=BertConfig(hidden_size=768))
shared = AutoConfig.from_pretrained("bert-base-uncased")
settings.adapt(shared)
adapted = AutoModel.from_pretrained("bert-base-uncased", config=shared)
open_config = AutoConfig.from_pretrained("bert-base-uncased", **settings.options)
unknown = AutoModel.from_pretrained("bert-base-uncased", config=open_config)
with torch.no_grad():
    print(given(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
    print(made(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
    print(adapted(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
    print(unknown(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
"""),
        # Nobody reads the maps.
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased")
with torch.no_grad():
    outputs = model(torch.tensor([[101, 102]]), output_attentions=True, output_hidden_states=True)
print(outputs.hidden_states[-1].mean())
"""),
        Good("""\
import torch
from transformers import AutoModel

model = AutoModel.from_pretrained("bert-base-uncased")
with torch.no_grad():
    print(model(torch.tensor([[101, 102]]), output_attentions=False).last_hidden_state)
"""),
        # transformers runs these with its own attention.
        Good("""\
import torch
from transformers import AutoModel, DebertaV2Model

first = DebertaV2Model.from_pretrained("../runs/deberta")
second = AutoModel.from_pretrained("microsoft/deberta-v3-base")
third = AutoModel.from_pretrained("tiiuae/falcon-7b")
with torch.no_grad():
    for model in (first, second, third):
        print(model(torch.tensor([[1, 2]]), output_attentions=True).attentions[-1])
"""),
        # Nobody knows what this is, or the hub's own code runs.
        Good("""\
import argparse

import torch
from transformers import AutoModel

parser = argparse.ArgumentParser()
parser.add_argument("--model")
parser.add_argument("--attention", default="sdpa")
args = parser.parse_args()
first = AutoModel.from_pretrained(args.model)
second = AutoModel.from_pretrained("bert-base-uncased", attn_implementation=args.attention)
third = AutoModel.from_pretrained("bert-base-uncased", trust_remote_code=True)
with torch.no_grad():
    for model in (first, second, third):
        print(model(torch.tensor([[1, 2]]), output_attentions=True).attentions[-1])
"""),
        # The user decides whether maps are computed, and how.
        Good("""\
import torch
from transformers import AutoModel

@torch.no_grad()
def run(ids, output_attentions=False, **settings):
    model = AutoModel.from_pretrained("bert-base-uncased", **settings)
    outputs = model(ids, output_attentions=output_attentions)
    return outputs.attentions if output_attentions else outputs.last_hidden_state
"""),
        # A model of the program's own computes attention as it likes.
        Good("""\
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, x, output_attentions=False):
        out, maps = self.attention(x, x, x, need_weights=output_attentions)
        return {"out": out, "attentions": maps}

model = Model()
model.load_state_dict(torch.load("model.pt"))
model.eval()
with torch.no_grad():
    print(model(torch.ones(3, 1, 8), output_attentions=True)["attentions"])
"""),
        # Something unknown may have switched the implementation.
        Good("""\
import torch
from transformers import AutoModel

from interpret import prepare

model = AutoModel.from_pretrained("bert-base-uncased")
prepare(model)
with torch.no_grad():
    print(model(torch.tensor([[101, 102]]), output_attentions=True).attentions[-1])
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for request in facts.attention_requests():
            if request.is_read is YES and request.has_maps is NO and facts.requires("transformers", ">=5") is not NO:
                yield self.report(
                    request.place,
                    f"`{request.implementation}` gives no attention maps in transformers 5",
                    related=[(request.load.place, "the model is loaded here")],
                    help='load the model with `attn_implementation="eager"`',
                    fix=[SetArgument(request.load.place.range, "attn_implementation", '"eager"')],
                )
