from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "distilbert-base-uncased-finetuned-sst-2-english"


def load(device):
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForSequenceClassification.from_pretrained(NAME)
    return tokenizer, model.to(device)
