"""Settings of the tagging job."""

TOKENIZER_NAME = "bert-base-multilingual-cased"
MODEL_NAME = "xlm-roberta-base"
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
