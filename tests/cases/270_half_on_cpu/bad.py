import sys

import torch
from PIL import Image
from transformers import AutoImageProcessor, AutoModelForImageClassification

NAME = "microsoft/swin-tiny-patch4-window7-224"


@torch.inference_mode()
def classify(paths):
    processor = AutoImageProcessor.from_pretrained(NAME)
    model = AutoModelForImageClassification.from_pretrained(NAME, dtype=torch.float16).to("cuda")  # EXPECT: half_on_cpu
    for path in paths:
        pixels = processor(Image.open(path).convert("RGB"), return_tensors="pt").to("cuda")
        logits = model(**pixels).logits
        yield path, model.config.id2label[logits.argmax(-1).item()]


if __name__ == "__main__":
    for path, label in classify(sys.argv[1:]):
        print(path, label)
