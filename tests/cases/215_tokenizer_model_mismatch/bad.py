import torch
from transformers import AutoModel, AutoTokenizer

PRESET = {
    "model": "allenai/scibert_scivocab_uncased",
    "tokenizer": "bert-base-cased",
    "pool": "cls",
}


def abstract_vectors(abstracts):
    tokenizer = AutoTokenizer.from_pretrained(  # EXPECT: tokenizer_model_mismatch
        pretrained_model_name_or_path=PRESET["tokenizer"]
    )
    encoder = AutoModel.from_pretrained(pretrained_model_name_or_path=PRESET["model"])
    with torch.no_grad():
        batch = tokenizer(abstracts, padding="longest", return_tensors="pt")
        return encoder(**batch).last_hidden_state[:, 0]


print(abstract_vectors(["We study the folding of proteins."]).shape)
