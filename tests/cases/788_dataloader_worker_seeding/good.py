import lightning as L
import torch
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, clips, length):
        self.clips, self.length = clips, length
        self.generator = torch.Generator()

    def __len__(self):
        return len(self.clips)

    def __getitem__(self, index):
        clip = self.clips[index]
        self.generator.manual_seed(torch.initial_seed() + index)
        start = torch.randint(0, clip.size(0) - self.length, (), generator=self.generator).item()
        return clip[start : start + self.length]


class Clips(L.LightningDataModule):
    def __init__(self, clips):
        super().__init__()
        self.clips = clips

    def setup(self, stage):
        self.train = Crops(self.clips, 16_000)

    def train_dataloader(self):
        order = torch.Generator().manual_seed(1)
        return DataLoader(self.train, batch_size=16, shuffle=True, num_workers=4, generator=order)
