import json
from pathlib import Path

import torch
from torch.utils.data import DataLoader, IterableDataset


class JsonLines(IterableDataset):
    def __init__(self, folder, tokenizer, length=512):
        super().__init__()
        self.files = sorted(Path(folder).glob("*.jsonl"))
        self.tokenizer, self.length = tokenizer, length

    def texts(self):
        for file in self.files:
            with file.open(encoding="utf-8") as lines:
                for line in lines:
                    yield json.loads(line)["text"]

    def __iter__(self):
        for text in self.texts():
            ids = self.tokenizer(text)["input_ids"]
            for start in range(0, len(ids), self.length):
                yield torch.tensor(ids[start : start + self.length])


def validation(folder, tokenizer, workers=4):
    dataset = JsonLines(folder, tokenizer)
    return DataLoader(dataset, batch_size=None, num_workers=workers, pin_memory=True)  # EXPECT: iterable_dataset_duplicates
