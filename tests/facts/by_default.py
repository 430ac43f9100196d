"""What libraries do unless they are told otherwise: drop in evaluation, run a checkpoint's code, pass what is new."""
import torch
import torch.nn.functional as F
from torch import nn
from transformers import Trainer

from things import Base, only, settings, wrapped


class Net(nn.Module):
    def forward(self, x, p):
        F.dropout(x)  # fact: is always on yes
        F.dropout(x, p)  # fact: is always on yes
        F.dropout(x, training=self.training)  # fact: is always on unknown
        F.dropout(x, **settings)  # fact: is always on unknown
        F.dropout(x, 0.0)  # fact: is always on unknown
        if self.training:
            F.dropout(x)  # fact: is always on unknown
        F.scaled_dot_product_attention(x, x, x, dropout_p=self.p)  # fact: is always on yes
        F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)  # fact: is always on yes
        F.scaled_dot_product_attention(x, x, x, dropout_p=p)  # fact: is always on unknown
        return helper(x)

    def mc_forward(self, x):
        return F.dropout(x)  # fact: is always on unknown


class Denoiser(nn.Module):
    def forward(self, x):
        return F.dropout(x)  # fact: is always on yes


class NoisyEncoder(nn.Module):
    def forward(self, x):
        return F.dropout(x)  # fact: is always on unknown


def helper(x):
    return F.dropout(x)  # fact: is always on yes


def noisy(x):
    return F.dropout(x)  # fact: untold is always on


def read(path, state):
    torch.load(path)  # fact: reads weights only unknown; leaves it to torch no; is the programs own no
    torch.load(path, weights_only=True)  # fact: reads weights only yes; leaves it to torch yes
    torch.load(path, weights_only=False)  # fact: reads weights only no
    torch.load(path, weights_only=only)  # fact: reads weights only unknown
    torch.load(path, **settings)  # fact: leaves it to torch unknown


def write(path, state):
    torch.load("state.pt")  # fact: is the programs own yes
    torch.save(state, path)
    torch.load(path)  # fact: is the programs own yes


class Plain(Trainer):
    def compute_loss(self, model, inputs):  # fact: is called by its library yes
        return model(**inputs).loss


class Own(Plain):
    def training_step(self, model, inputs):
        return self.compute_loss(model, inputs)

    def compute_loss(self, model, inputs):  # fact: is called by its library unknown
        return model(**inputs).loss


class Unseen(Base):
    def compute_loss(self, model, inputs):  # fact: untold is called by its library
        return model(**inputs).loss


class Passing(Trainer):
    def training_step(self, *args, **kwargs):
        return super().training_step(*args, **kwargs)

    def compute_loss(self, model, inputs):  # fact: is called by its library yes
        return model(**inputs).loss
