import json
from pathlib import Path

import torch
import torch.utils.data
from torch.utils.data import DataLoader, IterableDataset


class JsonLines(IterableDataset):
    def __init__(self, folder, tokenizer, length=512):
        super().__init__()
        self.files = sorted(Path(folder).glob("*.jsonl"))
        self.tokenizer, self.length = tokenizer, length

    def texts(self):
        info = torch.utils.data.get_worker_info()
        mine = self.files if info is None else self.files[info.id :: info.num_workers]
        for file in mine:
            with file.open(encoding="utf-8") as lines:
                for line in lines:
                    yield json.loads(line)["text"]

    def __iter__(self):
        for text in self.texts():
            ids = self.tokenizer(text)["input_ids"]
            for start in range(0, len(ids), self.length):
                yield torch.tensor(ids[start : start + self.length])


class Rows(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        yield from self.rows


def validation(folder, tokenizer, workers=4):
    dataset = JsonLines(folder, tokenizer)
    return DataLoader(dataset, batch_size=None, num_workers=workers, pin_memory=True)


def preview(rows):
    return DataLoader(Rows(rows), batch_size=None)
