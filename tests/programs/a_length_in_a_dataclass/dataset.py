import json

from torch.utils.data import Dataset


class Lines(Dataset):
    def __init__(self, path, tokenizer, max_length):
        self.tokenizer = tokenizer
        self.max_length = max_length
        with open(path) as lines:
            self.rows = [json.loads(line) for line in lines]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        encoded = self.tokenizer(row["text"], truncation=True, padding="max_length", max_length=self.max_length)  # <- LLM116
        return {**encoded, "label": row["label"]}
