"""LLM112 attention-mask-dropped."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, SetArgument, Severity


class AttentionMaskDropped(Rule):
    """A model gets the ids of a padded batch without the mask that says which of them are padding.

    Padding makes texts equally long, and `attention_mask` tells the model to look away from it. Without the mask a forward
    attends to the padding as if it were text, and the results of a text depend on what else is in its batch. `generate`
    guesses the mask from the id of the pad token, but not where that is the end-of-text token, as after
    `tokenizer.pad_token = tokenizer.eos_token`: then all is text, and the answers to shorter prompts get worse.
    transformers logs a warning at most. Pass `attention_mask=`, or all of the encoding, `**inputs`.

    Nothing is said of a batch of one, where nothing is padded; of padding on the right of a decoder-only model's forward,
    which no earlier position sees; and of a `generate` that can tell the padding by a token of its own.
    """

    code = "LLM112"
    severity = Severity.WARNING
    triggers = ("padding", ".pad(")
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

def complete(prompts):
    inputs = tokenizer(prompts, padding=True, return_tensors="pt")
    output = model.generate(inputs.input_ids, max_new_tokens=20)  # <- `model.generate` gets padded ids without their mask
    return tokenizer.batch_decode(output[:, inputs.input_ids.shape[1]:])
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

def complete(prompts):
    inputs = tokenizer(prompts, padding=True, return_tensors="pt")
    output = model.generate(inputs.input_ids, max_new_tokens=20, attention_mask=inputs.attention_mask)
    return tokenizer.batch_decode(output[:, inputs.input_ids.shape[1]:])
""",
        ),
        # A forward of an encoder, in a class whose methods share it.
        Bad(
            """\
import torch
from transformers import AutoTokenizer, BertForSequenceClassification

class Classifier:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = BertForSequenceClassification.from_pretrained(folder).eval()

    def encode(self, texts):
        return self.tokenizer(texts, padding="longest", return_tensors="pt")

    @torch.inference_mode()
    def predict(self, texts):
        batch = self.encode(texts)
        return self.model(input_ids=batch["input_ids"]).logits.argmax(-1)  # <- `self.model` gets padded ids without
""",
            fixed="""\
import torch
from transformers import AutoTokenizer, BertForSequenceClassification

class Classifier:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = BertForSequenceClassification.from_pretrained(folder).eval()

    def encode(self, texts):
        return self.tokenizer(texts, padding="longest", return_tensors="pt")

    @torch.inference_mode()
    def predict(self, texts):
        batch = self.encode(texts)
        return self.model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits.argmax(-1)
""",
        ),
        # A notebook; the ids go to the device, and nothing says what their mask is called.
        Bad(
            {
                "rank.ipynb": [
                    "import torch\nfrom transformers import AutoModel, AutoTokenizer\n",
                    """\
tokenizer = AutoTokenizer.from_pretrained("roberta-base")
model = AutoModel.from_pretrained("roberta-base").to("cuda").eval()
""",
                    """\
@torch.no_grad()
def vectors(sentences):
    ids = tokenizer(sentences, padding=True, return_tensors="pt")["input_ids"].to("cuda")
    return model(ids).last_hidden_state[:, 0]  # <- `model` gets padded ids without their mask
""",
                    'print(vectors(["A cat", "A dog that barks"]))\n',
                ]
            },
        ),
        # A helper that a loop calls; left padding shows in the forward of a decoder-only model, too.
        Bad("""\
import torch
from transformers import AutoTokenizer, GPT2LMHeadModel

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
tokenizer.padding_side = "left"
model = GPT2LMHeadModel.from_pretrained("gpt2")

@torch.no_grad()
def next_tokens(ids):
    return model(ids).logits[:, -1].argmax(-1)  # <- `model` gets padded ids without their mask

for batch in (["The sea", "The quick brown"], ["One", "One and a half"]):
    print(next_tokens(tokenizer(batch, padding=True, return_tensors="pt").input_ids))
"""),
        # Qwen pads with a token that ends texts.
        Bad(
            """\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "Qwen/Qwen2.5-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
model = AutoModelForCausalLM.from_pretrained(name)
batch = tokenizer(["Hello", "Good morning to you"], padding=True, return_tensors="pt")
print(model.generate(inputs=batch.input_ids, do_sample=False, max_new_tokens=9))  # <- without their mask
""",
            fixed="""\
from transformers import AutoModelForCausalLM, AutoTokenizer

name = "Qwen/Qwen2.5-0.5B-Instruct"
tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
model = AutoModelForCausalLM.from_pretrained(name)
batch = tokenizer(["Hello", "Good morning to you"], padding=True, return_tensors="pt")
print(model.generate(inputs=batch.input_ids, do_sample=False, max_new_tokens=9, attention_mask=batch.attention_mask))
""",
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

def complete(prompts):
    inputs = tokenizer(prompts, padding=True, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=20)
    return tokenizer.batch_decode(output[:, inputs.input_ids.shape[1]:])
"""),
        # A batch of one, texts that nobody pads.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token
model = AutoModelForCausalLM.from_pretrained("gpt2")

def complete(prompt):
    first = tokenizer(prompt, return_tensors="pt").input_ids
    second = tokenizer([prompt], padding=True, return_tensors="pt").input_ids
    return model.generate(first, max_new_tokens=20), model.generate(second, max_new_tokens=20)
"""),
        # `generate` tells the padding by a token of its own; an encoder-decoder model's always has one.
        Good("""\
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

def complete(prompts):
    writer = AutoTokenizer.from_pretrained("facebook/opt-350m", padding_side="left")
    opt = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
    reader = AutoTokenizer.from_pretrained("google/flan-t5-base")
    flan = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
    first = opt.generate(writer(prompts, padding=True, return_tensors="pt").input_ids, max_new_tokens=5)
    return first, flan.generate(reader(prompts, padding=True, return_tensors="pt").input_ids, max_new_tokens=5)
"""),
        # A pad token that the program adds; a tokenizer of which nothing is known.
        Good("""\
from transformers import AutoModelForCausalLM, AutoTokenizer

def complete(prompts, name):
    tokenizer = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    model.resize_token_embeddings(len(tokenizer))
    model.config.pad_token_id = tokenizer.pad_token_id
    other = AutoTokenizer.from_pretrained(name, padding_side="left")
    another = AutoModelForCausalLM.from_pretrained(name)
    first = model.generate(tokenizer(prompts, padding=True, return_tensors="pt").input_ids, max_new_tokens=5)
    return first, another.generate(other(prompts, padding=True, return_tensors="pt").input_ids, max_new_tokens=5)
"""),
        # No position looks at the padding that stands behind a text.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

@torch.no_grad()
def losses(texts):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    return model(batch.input_ids).logits.log_softmax(-1) * batch.attention_mask[..., None]
"""),
        # The mask by position, by another name, or perhaps among what is spread.
        Good("""\
import torch
from transformers import BertModel, BertTokenizer, T5ForConditionalGeneration

@torch.no_grad()
def vectors(texts, **others):
    tokenizer = BertTokenizer.from_pretrained("bert-base-uncased")
    model = BertModel.from_pretrained("bert-base-uncased")
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    mask = batch.attention_mask
    first = model(batch.input_ids, mask)
    second = model(batch.input_ids, attention_mask=batch.input_ids != tokenizer.pad_token_id)
    return first, second, model(batch.input_ids, **others)
"""),
        # A model of the program's own makes the mask itself.
        Good("""\
import torch
from torch import nn
from transformers import AutoTokenizer, BertModel

class Encoder(nn.Module):
    def __init__(self, pad):
        super().__init__()
        self.pad = pad
        self.bert = BertModel.from_pretrained("bert-base-uncased")

    def forward(self, ids):
        return self.bert(ids, attention_mask=ids.ne(self.pad)).pooler_output

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = Encoder(tokenizer.pad_token_id).eval()
with torch.no_grad():
    print(model(tokenizer(["A cat", "A dog that barks"], padding=True, return_tensors="pt").input_ids))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        runs = {run.call.record.id: run for run in facts.unmasked_runs() if run.attends_to_padding is YES}
        calls = [run.call for run in runs.values()]
        for call, place in facts.where_all_chains_agree(calls, lambda _: True, in_this_module=True):
            run = runs[call.record.id]
            mask = run.mask_text if place == call.place else None
            yield self.report(
                place,
                f"`{call.callee}` gets padded ids without their mask",
                related=[(run.padding_place, "padded here")],
                help="pass the `attention_mask` that the tokenizer returns",
                fix=[SetArgument(place.range, "attention_mask", mask)] if mask is not None else (),
            )
