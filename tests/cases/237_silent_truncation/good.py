import pandas as pd
import torch
from transformers import AutoModel, AutoTokenizer

name = "sentence-transformers/all-MiniLM-L6-v2"
tok = AutoTokenizer.from_pretrained(name)
net = AutoModel.from_pretrained(name)


def embed(text):
    enc = tok(text, max_length=128, truncation=True, return_tensors="pt")
    with torch.inference_mode():
        return net(**enc).last_hidden_state.mean(1)[0].tolist()


mails = pd.read_csv("mails.csv")
mails["tokens"] = mails["body"].apply(lambda body: len(tok(body)["input_ids"]))
print((mails["tokens"] > 128).mean(), "of the mails are longer than what is embedded")
mails["vector"] = mails["body"].apply(lambda body: embed(body))
mails.to_parquet("mails.parquet")
