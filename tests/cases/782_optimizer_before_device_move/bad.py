import torch
from torch import nn
from torchvision import models


def finetune(train_loader, classes, epochs=3):
    torch.manual_seed(0)
    net = models.efficientnet_b0(weights="IMAGENET1K_V1").cuda()
    optimizer = torch.optim.AdamW(filter(lambda p: p.requires_grad, net.parameters()), lr=1e-3)  # EXPECT: optimizer_before_device_move
    net.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(1280, classes)).cuda()
    net.train()
    for _ in range(epochs):
        for images, labels in train_loader:
            loss = nn.functional.cross_entropy(net(images.cuda()), labels.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return net
