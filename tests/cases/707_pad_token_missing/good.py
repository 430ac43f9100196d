from torch.utils.data import Dataset
from transformers import AutoTokenizer


class Reviews(Dataset):
    def __init__(self, texts, checkpoint="mistralai/Mistral-7B-v0.1"):
        self.texts = texts
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        self.prepare()

    def prepare(self):
        self.tokenizer.pad_token = self.tokenizer.unk_token

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        return self.tokenizer(self.texts[index], padding="max_length", max_length=256, return_tensors="pt")


def first(texts):
    return Reviews(texts)[0]
