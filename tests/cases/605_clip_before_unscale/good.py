import torch


def train(generator, discriminator, loader, generator_optimizer, discriminator_optimizer):
    scaler = torch.GradScaler("cuda")
    for real in loader:
        with torch.autocast("cuda"):
            fake = generator(torch.randn_like(real))
            discriminator_loss = discriminator(fake.detach()).mean() - discriminator(real).mean()
        discriminator_optimizer.zero_grad()
        scaler.scale(discriminator_loss).backward()
        scaler.unscale_(discriminator_optimizer)
        torch.nn.utils.clip_grad_value_(discriminator.parameters(), 0.01)
        scaler.step(discriminator_optimizer)
        with torch.autocast("cuda"):
            generator_loss = -discriminator(fake).mean()
        generator_optimizer.zero_grad()
        scaler.scale(generator_loss).backward()
        scaler.unscale_(generator_optimizer)
        torch.nn.utils.clip_grad_norm_(generator.parameters(), 1.0)
        scaler.step(generator_optimizer)
        scaler.update()
