import torch
from torch import nn
from torchvision.utils import save_image

LATENT = 100


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(LATENT, 256), nn.ReLU(), nn.Linear(256, 784), nn.Tanh())

    def forward(self, noise):
        return self.layers(noise).view(-1, 1, 28, 28)


def train(generator, critic, loader, generator_optimizer, critic_optimizer):
    objective = nn.BCEWithLogitsLoss()
    for real in loader:
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = generator(torch.randn(len(real), LATENT))
        loss = objective(critic(real), ones) + objective(critic(fake.detach()), zeros)
        critic_optimizer.zero_grad()
        loss.backward()
        critic_optimizer.step()
        loss = objective(critic(fake), ones)
        generator_optimizer.zero_grad()
        loss.backward()
        generator_optimizer.step()


def main(critic, loader, epochs):
    torch.manual_seed(0)
    generator = Generator()
    fixed = torch.randn(64, LATENT)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-4)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-4)
    for epoch in range(epochs):
        train(generator, critic, loader, generator_optimizer, critic_optimizer)
        generator.eval()
        save_image(generator(fixed), f"{epoch}.png")  # EXPECT: missing_no_grad
        generator.train()
