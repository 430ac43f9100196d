MODEL_NAME = "bert-base-uncased"
TOKENIZER_NAME = "bert-base-cased"
NUM_LABELS = 4
