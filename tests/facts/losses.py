"""What losses are given: scores, probabilities, or the logarithms of those."""
import torch
import torch.nn.functional as F
from torch import nn
from things import loss_of, net, settings, normalize

x, y = net(1), net(2)
probs = F.softmax(x, dim=-1)
print(F.cross_entropy(probs, y))
F.cross_entropy(probs, y)  # fact: is given probabilities yes
F.cross_entropy(probs.view(-1, 3)[0], y)  # fact: is given probabilities yes
F.cross_entropy(x.sigmoid().float(), y)  # fact: is given probabilities yes
F.cross_entropy(x, y)  # fact: is given probabilities unknown
F.cross_entropy(x, probs)  # fact: is given probabilities unknown
F.cross_entropy(probs * 2, y)  # fact: is given probabilities unknown
F.cross_entropy(torch.log_softmax(x, 1), y)  # fact: is given probabilities unknown
F.cross_entropy(normalize(probs), y)  # fact: is given probabilities unknown
nn.CrossEntropyLoss()(nn.Softmax(dim=1)(x), y)  # fact: is given probabilities yes
nn.CrossEntropyLoss()(nn.Sequential(nn.Linear(1, 2), nn.Sigmoid())(x), y)  # fact: is given probabilities yes
nn.CrossEntropyLoss()(nn.Sequential(*net)(x), y)  # fact: is given probabilities unknown
loss_of(probs, y)  # fact: untold is given probabilities
if settings.soft:
    x = F.softmax(x)
F.nll_loss(x, y)  # fact: is given probabilities unknown


class Net(nn.Module):
    def forward(self, x):
        return x, x.softmax(-1)


class Other(Net):
    def forward(self, x):
        return x if self.training else x.softmax(-1)


scores, probs = Net()(y)
F.cross_entropy(scores, y)  # fact: is given probabilities unknown
F.cross_entropy(probs, y)  # fact: is given probabilities yes
F.cross_entropy(Other()(y), y)  # fact: is given probabilities unknown
# ======== divergences
import torch.nn.functional as F
from torch import nn
from things import settings, student, teacher

p, q = F.softmax(student, dim=-1), F.log_softmax(teacher, dim=-1)
F.kl_div(p, q)  # fact: target is logarithms yes; takes log target no; is averaged over classes yes
F.kl_div(q, p, reduction="sum", log_target=True)  # fact: target is logarithms no; takes log target yes
F.kl_div(q, student, reduction="batchmean")  # fact: target is logarithms unknown; is averaged over classes no
F.kl_div(q, p, **settings)  # fact: takes log target unknown; is averaged over classes unknown
F.kl_div(q, p, reduction=settings.how)  # fact: is averaged over classes unknown
nn.KLDivLoss(log_target=True)(q, p)  # fact: takes log target yes; is averaged over classes yes
nn.KLDivLoss(None, None, "mean")(q, p)  # fact: is averaged over classes unknown
