"""What is done to a model after its optimizer was made."""
import torch
from peft import get_peft_model
from things import config, loader, setup_optimizer, widen
from torch import nn
from torchvision import models

first = models.resnet18()
of_first = torch.optim.SGD(first.parameters())  # fact: is followed no
first.fc = nn.Linear(512, 2)

second = models.resnet18()
second.fc = nn.Linear(512, 2)
of_second = torch.optim.SGD(second.parameters())  # fact: untold is followed

third = models.resnet18()
of_third = torch.optim.SGD(third.parameters())  # fact: is followed unknown
third.fc = nn.Linear(512, 2)
again = torch.optim.SGD(third.parameters())

fourth = models.resnet18()
of_fourth = torch.optim.SGD(fourth.parameters())  # fact: is followed unknown
fourth = get_peft_model(fourth, config)
of_fourth = setup_optimizer(fourth)

fifth = models.resnet18()
of_fifth = torch.optim.SGD(fifth.parameters())  # fact: untold is followed
fifth.fc = widen(fifth.fc)
# ======== where it lies
import torch
from things import loader
from torch import nn

net = nn.Linear(1, 1)
optimizer = torch.optim.Adagrad(net.parameters())  # fact: is followed no; was elsewhere yes
net.cuda()

there = nn.Linear(1, 1).cuda()
optimizer = torch.optim.Adagrad(there.parameters())  # fact: was elsewhere no
there.cuda()

same = nn.Linear(1, 1)
optimizer = torch.optim.Adam(same.parameters())  # fact: untold is followed
same.cuda()

trained = nn.Linear(1, 1)
optimizer = torch.optim.Adagrad(trained.parameters())  # fact: is followed unknown
for batch in loader:
    trained(batch).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
trained.cuda()


def given(net, where):
    optimizer = torch.optim.Adagrad(net.parameters())  # fact: is followed no; was elsewhere unknown
    net.to(where.device)
    return optimizer
