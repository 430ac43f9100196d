import torch
from transformers import AutoTokenizer, DistilBertModel

tokenizer = AutoTokenizer.from_pretrained("distilbert/distilbert-base-uncased")
model = DistilBertModel.from_pretrained("distilbert/distilbert-base-uncased")


def mean_pooling(hidden):
    return hidden.mean(dim=1)  # EXPECT: pooling_ignores_mask


def embed(texts):
    encoded = tokenizer(texts, padding="max_length", truncation=True, max_length=128, return_tensors="pt")
    if (encoded["attention_mask"].sum(1) == 128).any():
        print("some texts were cut")
    with torch.no_grad():
        out = model(**encoded, output_hidden_states=True)
    return mean_pooling(out.last_hidden_state)
