import sys

import torch
from transformers import (
    AlbertModel,
    BertModel,
    BertTokenizer,
    BertTokenizerFast,
    DistilBertModel,
    ElectraModel,
)

MODELS = {
    "bert": (BertModel, BertTokenizer, "bert-base-uncased", "bert-base-uncased"),
    "distil": (DistilBertModel, BertTokenizer, "distilbert-base-uncased", "bert-base-uncased"),
    "electra": (ElectraModel, BertTokenizerFast, "google/electra-small-discriminator", "bert-large-uncased"),
    "zh": (AlbertModel, BertTokenizerFast, "ckiplab/albert-base-chinese", "bert-base-chinese"),
}


def main():
    model_class, tokenizer_class, weights, vocab = MODELS[sys.argv[1]]
    tokenizer = tokenizer_class.from_pretrained(vocab)
    model = model_class.from_pretrained(weights)
    with torch.no_grad():
        print(model(**tokenizer(sys.argv[2], return_tensors="pt")).last_hidden_state.shape)


if __name__ == "__main__":
    main()
