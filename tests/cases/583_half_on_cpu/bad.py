import torch
import torch.nn as nn


class Denoiser(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.inp = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        return self.out(torch.relu(self.inp(x)))


class Sampler:
    def __init__(self, path, device="cpu", half=True):
        self.device = device
        self.net = Denoiser()
        self.net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        self.net.to(device).eval()
        if half:
            self.net.half()  # EXPECT: half_on_cpu
        self.dtype = torch.float16 if half else torch.float32

    @torch.no_grad()
    def run(self, noise):
        return self.net(noise.to(self.device, self.dtype))
