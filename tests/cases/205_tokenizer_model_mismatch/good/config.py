"""Settings of the tagging job."""

TOKENIZER_NAME = "xlm-roberta-base"
MODEL_NAME = "xlm-roberta-large"
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
