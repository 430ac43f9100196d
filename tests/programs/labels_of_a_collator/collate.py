class Collator:
    def __init__(self, tokenizer, limit=128):
        self.tokenizer = tokenizer
        self.limit = limit

    def __call__(self, rows):
        batch = self.tokenizer(rows, return_tensors="pt", padding=True, truncation=True, max_length=self.limit)
        batch["labels"] = batch["input_ids"].clone()
        return batch
