"""By how much labels stand off from their ids, and whether the model moves them itself."""
import torch
from transformers import AutoModelForCausalLM, BertModel, XLNetLMHeadModel

model = AutoModelForCausalLM.from_pretrained("gpt2")
ids = torch.load("ids.pt")
model(input_ids=ids[:, :-1], labels=ids[:, 1:])  # fact: is shifted yes; shifts itself yes
model(input_ids=ids[:, :-1], labels=ids[:, 1:].contiguous())  # fact: is shifted yes
model(input_ids=ids, labels=torch.roll(ids, -1, dims=1))  # fact: is shifted yes
model(input_ids=ids, labels=ids)  # fact: is shifted unknown
model(input_ids=ids[:, 1:], labels=ids[:, 1:])  # fact: is shifted unknown
model(input_ids=ids[:, :-1], labels=ids[:, :-1])  # fact: is shifted unknown
model(input_ids=ids[:, :-1], labels=unknown)  # fact: is shifted unknown
model(input_ids=ids, labels=torch.roll(ids, unknown))  # fact: is shifted unknown
XLNetLMHeadModel.from_pretrained("xlnet-base-cased")(input_ids=ids, labels=ids)  # fact: shifts itself no
AutoModelForCausalLM.from_pretrained("somebody/unknown")(input_ids=ids, labels=ids)  # fact: shifts itself yes
BertModel.from_pretrained("bert-base-uncased")(ids, labels=ids)  # fact: untold is shifted
# ======== a model that comes from outside
def loss(model, ids):
    model.eval()
    model(input_ids=ids[:, :-1], labels=ids[:, 1:])  # fact: untold is shifted
