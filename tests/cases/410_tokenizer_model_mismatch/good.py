import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from transformers import RobertaModel, RobertaTokenizer


class Tweets(Dataset):
    def __init__(self, frame, tokenizer):
        self.frame = frame
        self.tokenizer = tokenizer

    def __len__(self):
        return len(self.frame)

    def __getitem__(self, index):
        row = self.frame.iloc[index]
        encoded = self.tokenizer(row.text, padding="max_length", return_tensors="pt")
        return encoded["input_ids"][0], encoded["attention_mask"][0], torch.tensor(row.label)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = RobertaModel.from_pretrained("roberta-base")
        self.head = nn.Linear(768, 2)

    def forward(self, ids, mask):
        return self.head(self.encoder(ids, attention_mask=mask).pooler_output)


def run(frame):
    torch.manual_seed(0)
    tokenizer = RobertaTokenizer.from_pretrained("distilroberta-base")
    net = Classifier().cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-5)
    net.train()
    for ids, mask, labels in DataLoader(Tweets(frame, tokenizer), batch_size=16, shuffle=True):
        loss = nn.functional.cross_entropy(net(ids.cuda(), mask.cuda()), labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
