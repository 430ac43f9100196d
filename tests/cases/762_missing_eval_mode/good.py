import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.rnn = nn.LSTM(features, hidden, num_layers=2, dropout=0.3, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1])


def restored(path, **sizes):
    model = Forecaster(**sizes)
    state = torch.load(path, map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    return model


def forecast(path, series):
    model = restored(path, features=series.size(-1), hidden=128)
    model.eval()
    with torch.no_grad():
        return model(series).squeeze(-1)


def interval(path, series, times=50):
    """Monte Carlo dropout: the spread is the answer."""
    model = restored(path, features=series.size(-1), hidden=128)
    model.train()
    with torch.no_grad():
        samples = torch.stack([model(series).squeeze(-1) for _ in range(times)])
    return samples.quantile(0.05, dim=0), samples.quantile(0.95, dim=0)
