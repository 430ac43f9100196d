import torch
from torch.utils.data import Dataset
from transformers import BertTokenizerFast


class ReviewDataset(Dataset):
    def __init__(self, frame, max_len=128):
        self.texts = frame["review"].tolist()
        self.labels = frame["stars"].tolist()
        self.tokenizer = BertTokenizerFast.from_pretrained("google-bert/bert-base-uncased")
        self.max_len = max_len

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        encoding = self.tokenizer.encode_plus(
            self.texts[i],
            add_special_tokens=True,
            max_length=self.max_len,
            padding="max_length",
            truncation=True,  # EXPECT: silent_truncation
            return_attention_mask=True,
            return_tensors="pt",
        )
        return {
            "input_ids": encoding["input_ids"].flatten(),
            "attention_mask": encoding["attention_mask"].flatten(),
            "labels": torch.tensor(self.labels[i]),
        }
