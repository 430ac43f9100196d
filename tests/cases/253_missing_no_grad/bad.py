import sys
from pathlib import Path

import torch
from PIL import Image
from transformers import AutoImageProcessor, ViTForImageClassification

NAME = "google/vit-base-patch16-224"


def main(folder):
    processor = AutoImageProcessor.from_pretrained(NAME)
    vit = ViTForImageClassification.from_pretrained(NAME)
    for parameter in vit.classifier.parameters():
        parameter.requires_grad = False
    table = {}
    for path in sorted(Path(folder).glob("*.jpg")):
        pixels = processor(Image.open(path), return_tensors="pt")
        features = vit.vit(**pixels).last_hidden_state[0, 0]  # EXPECT: missing_no_grad
        table[path.name] = features
    torch.save(table, "features.pt")


if __name__ == "__main__":
    main(sys.argv[1])
