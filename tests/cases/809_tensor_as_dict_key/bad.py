import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer


def predict(texts, name="distilbert/distilbert-base-uncased-finetuned-sst-2-english"):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForSequenceClassification.from_pretrained(name)
    votes = {}
    for text in texts:
        inputs = tokenizer(text, truncation=True, max_length=512, return_tensors="pt")
        if len(tokenizer(text)["input_ids"]) > 512:
            print("cut", text[:40])
        with torch.inference_mode():
            label = model(**inputs).logits.argmax(dim=-1)
        votes[label] = votes.get(label, 0) + 1  # EXPECT: tensor_as_dict_key
    return votes
