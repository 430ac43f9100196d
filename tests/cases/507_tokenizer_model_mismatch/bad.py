import sys

import torch
from transformers import AlbertModel, AlbertTokenizer, BertModel, BertTokenizer, DistilBertModel, DistilBertTokenizer


def load(kind):
    if kind == "bert":
        tokenizer = BertTokenizer.from_pretrained("bert-base-uncased")
        model = BertModel.from_pretrained("bert-base-uncased")
    elif kind == "albert":
        tokenizer = AlbertTokenizer.from_pretrained("albert-base-v2")
        model = AlbertModel.from_pretrained("albert-base-v2")
    else:
        tokenizer = DistilBertTokenizer.from_pretrained("distilbert-base-multilingual-cased")  # EXPECT: tokenizer_model_mismatch
        model = DistilBertModel.from_pretrained("distilbert-base-uncased")
    return tokenizer, model


def main():
    tokenizer, model = load(sys.argv[1])
    with torch.no_grad():
        print(model(**tokenizer(sys.argv[2], return_tensors="pt")).last_hidden_state.shape)


if __name__ == "__main__":
    main()
