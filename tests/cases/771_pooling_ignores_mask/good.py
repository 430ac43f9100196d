import torch
from transformers import AutoTokenizer, DistilBertModel

tokenizer = AutoTokenizer.from_pretrained("distilbert/distilbert-base-uncased")
model = DistilBertModel.from_pretrained("distilbert/distilbert-base-uncased")


def mean_pooling(hidden, mask):
    mask = mask.unsqueeze(-1).float()
    return (hidden * mask).sum(dim=1) / mask.sum(dim=1)


def embed(texts):
    encoded = tokenizer(texts, padding="max_length", truncation=True, max_length=128, return_tensors="pt")
    if (encoded["attention_mask"].sum(1) == 128).any():
        print("some texts were cut")
    with torch.no_grad():
        out = model(**encoded, output_hidden_states=True)
    layers = torch.stack(out.hidden_states[-4:], dim=1).mean(dim=1)
    return mean_pooling(layers, encoded["attention_mask"])
