BACKBONES = {
    "small": "distilbert-base-uncased",
    "base": "bert-base-uncased",
}
