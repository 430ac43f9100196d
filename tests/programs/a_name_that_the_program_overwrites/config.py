MODEL = "bert-base-uncased"
TOKENIZER = "bert-base-cased"
