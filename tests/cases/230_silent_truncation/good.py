import warnings

import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import BertForSequenceClassification, BertTokenizer, get_linear_schedule_with_warmup


class ReviewDataset(Dataset):
    def __init__(self, reviews, targets, tokenizer, max_len):
        self.reviews = reviews
        self.targets = targets
        self.tokenizer = tokenizer
        self.max_len = max_len
        lengths = [len(ids) for ids in tokenizer([str(review) for review in reviews])["input_ids"]]
        cut = sum(length > max_len for length in lengths)
        if cut:
            warnings.warn(f"{cut} of {len(lengths)} reviews are cut to {max_len} tokens", stacklevel=2)

    def __len__(self):
        return len(self.reviews)

    def __getitem__(self, item):
        encoding = self.tokenizer.encode_plus(
            str(self.reviews[item]),
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
            "labels": torch.tensor(self.targets[item], dtype=torch.long),
        }


def main():
    torch.manual_seed(42)
    df = pd.read_csv("reviews.csv")
    tokenizer = BertTokenizer.from_pretrained("bert-base-cased")
    dataset = ReviewDataset(df.content.to_numpy(), df.sentiment.to_numpy(), tokenizer, max_len=160)
    loader = DataLoader(dataset, batch_size=16, shuffle=True)
    model = BertForSequenceClassification.from_pretrained("bert-base-cased", num_labels=3).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    scheduler = get_linear_schedule_with_warmup(optimizer, 0, len(loader))
    model.train()
    for batch in loader:
        loss = model(**{k: v.cuda() for k, v in batch.items()}).loss
        loss.backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
