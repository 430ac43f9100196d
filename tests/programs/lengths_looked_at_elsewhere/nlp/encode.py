from .lengths import warn_if_cut

LIMIT = 512


def encode(tokenizer, texts):
    batch = tokenizer(texts, truncation=True, max_length=LIMIT, padding=True, return_tensors="pt")
    warn_if_cut(batch["attention_mask"], LIMIT)
    return batch
