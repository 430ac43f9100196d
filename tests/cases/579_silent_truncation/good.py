import lightning as L
import torch
from torch.utils.data import DataLoader, Dataset
from transformers import AutoTokenizer


class Abstracts(Dataset):
    def __init__(self, rows, name="allenai/scibert_scivocab_uncased"):
        self.tok = AutoTokenizer.from_pretrained(name)
        self.rows = [row for row in rows if self.fits(row)]
        print(f"{len(rows) - len(self.rows)} abstracts do not fit and are left out")

    def fits(self, row):
        return len(self.tok(row["title"], row["abstract"]).input_ids) <= 256

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        enc = self.tok(
            row["title"], row["abstract"], truncation=True, max_length=256, padding="max_length", return_tensors="pt"
        )
        return {**{k: v[0] for k, v in enc.items()}, "labels": torch.tensor(row["field"])}


class Data(L.LightningDataModule):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def train_dataloader(self):
        return DataLoader(Abstracts(self.rows), batch_size=16, shuffle=True)
