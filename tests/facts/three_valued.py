"""A fact is yes, no or unknown: what goes where nobody sees is unknown, not absent."""
import torch
from company import move, other, sink
from transformers import AutoModel, AutoTokenizer

model = AutoModel.from_pretrained("gpt2")
tokenizer = AutoTokenizer.from_pretrained("gpt2")

out = model(1)  # fact: reaches gradient yes
out.loss.backward()
out = model(2)  # fact: reaches gradient no
out = model(3)  # fact: reaches gradient unknown
sink(out)
out = model(4)  # fact: reaches gradient unknown
sink([out])
out = model(5)  # fact: reaches gradient unknown
sink(out=out.logits.mean())
out = model(6)  # fact: reaches gradient no
sink(out.logits.argmax(-1))
with torch.no_grad():
    model(7)  # fact: gradients no
with other():
    model(8)  # fact: gradients unknown
model(9)  # fact: gradients yes
tokenizer("text", truncation=True, max_length=9)  # fact: length is examined no
ids = tokenizer("text", truncation=True, max_length=9)  # fact: length is examined yes
if len(ids["input_ids"]) == 9:
    print("cut")
ids = tokenizer("text", truncation=True, max_length=9)  # fact: length is examined unknown
sink(ids)
frozen = AutoModel.from_pretrained("gpt2")
frozen.requires_grad_(False)
frozen(1)  # fact: model is frozen unknown; model needs gradients unknown
model(10)  # fact: model is frozen no; model needs gradients yes
moved = move(AutoModel.from_pretrained("gpt2"))
moved(1)  # fact: is in evaluation mode unknown; model is trained unknown
half = AutoModel.from_pretrained("gpt2", dtype=torch.float16 if other() else torch.float32)
half(1)  # fact: dtype float16 or float32
half(1)  # fact: device cpu
typed = AutoModel.from_pretrained("gpt2", dtype=other())
typed(1)  # fact: dtype unknown


def returned(batch):
    return model(batch)  # fact: is only returned yes; reaches gradient unknown
