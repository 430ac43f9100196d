import warnings

import torch
from torch.utils.data import Dataset
from transformers import BertTokenizerFast


class ReviewDataset(Dataset):
    def __init__(self, frame, max_len=128):
        self.texts = frame["review"].tolist()
        self.labels = frame["stars"].tolist()
        self.tokenizer = BertTokenizerFast.from_pretrained("google-bert/bert-base-uncased")
        self.max_len = max_len
        long = sum(len(self.tokenizer.tokenize(text)) > max_len - 2 for text in self.texts)
        if long:
            warnings.warn(f"{long} of {len(self.texts)} reviews lose their end", stacklevel=2)

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        encoding = self.tokenizer.encode_plus(
            self.texts[i],
            add_special_tokens=True,
            max_length=self.max_len,
            padding="max_length",
            truncation=True,
            return_attention_mask=True,
            return_tensors="pt",
        )
        return {
            "input_ids": encoding["input_ids"].flatten(),
            "attention_mask": encoding["attention_mask"].flatten(),
            "labels": torch.tensor(self.labels[i]),
        }
