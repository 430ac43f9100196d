"""Whether what a tokenizer makes stays on the CPU while the model is elsewhere."""
import torch
from company import on_device
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
here = AutoModel.from_pretrained("bert-base-uncased")
there = AutoModel.from_pretrained("bert-base-uncased").to("cuda")
maybe = AutoModel.from_pretrained("bert-base-uncased").to("cuda" if torch.cuda.is_available() else "cpu")
placed = AutoModel.from_pretrained("bert-base-uncased", device_map="auto")
unclear = AutoModel.from_pretrained("bert-base-uncased").to(unknown)
here(**tokenizer("a", return_tensors="pt"))  # fact: stay behind no
there(**tokenizer("a", return_tensors="pt"))  # fact: stay behind yes
there(tokenizer("a", return_tensors="pt").input_ids)  # fact: stay behind yes
maybe(**tokenizer("a", return_tensors="pt"))  # fact: stay behind yes
placed(**tokenizer("a", return_tensors="pt"))  # fact: stay behind unknown
unclear(**tokenizer("a", return_tensors="pt"))  # fact: stay behind unknown
there(**tokenizer("a"))  # fact: untold stay behind
there(**tokenizer("a", return_tensors="pt").to("cuda"))  # fact: untold stay behind
inputs = tokenizer("a", return_tensors="pt")
inputs.to("cuda")
there(**inputs)  # fact: stay behind unknown
other = tokenizer("a", return_tensors="pt")
on_device(other)
there(**other)  # fact: stay behind unknown
