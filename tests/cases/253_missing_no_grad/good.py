import sys
from pathlib import Path

import torch
from PIL import Image
from torch import nn
from transformers import AutoImageProcessor, ViTForImageClassification, ViTModel

NAME = "google/vit-base-patch16-224"


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.vit = ViTModel.from_pretrained(NAME)

    def forward(self, pixels):
        return self.vit(pixel_values=pixels).last_hidden_state[:, 0]


def labels(folder):
    processor = AutoImageProcessor.from_pretrained(NAME)
    vit = ViTForImageClassification.from_pretrained(NAME)
    vit.requires_grad_(False)
    for path in sorted(Path(folder).glob("*.jpg")):
        pixels = processor(Image.open(path), return_tensors="pt")
        yield path.name, vit.config.id2label[vit(**pixels).logits.argmax(-1).item()]


def main(folder):
    processor = AutoImageProcessor.from_pretrained(NAME)
    pooled = Pooled().eval()
    table = {}
    with torch.no_grad():
        for path in sorted(Path(folder).glob("*.jpg")):
            pixels = processor(Image.open(path), return_tensors="pt")
            table[path.name] = pooled(pixels["pixel_values"])[0]
    torch.save(table, "features.pt")
    print(dict(labels(folder)))


if __name__ == "__main__":
    main(sys.argv[1])
