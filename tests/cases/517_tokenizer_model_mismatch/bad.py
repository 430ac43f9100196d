import sys

import torch
from PIL import Image
from transformers import AutoTokenizer, VisionEncoderDecoderModel, ViTImageProcessor

NAME = "nlpconnect/vit-gpt2-image-captioning"

model = VisionEncoderDecoderModel.from_pretrained(NAME)
processor = ViTImageProcessor.from_pretrained(NAME)
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")  # EXPECT: tokenizer_model_mismatch


def caption(paths):
    images = [Image.open(p).convert("RGB") for p in paths]
    pixels = processor(images=images, return_tensors="pt").pixel_values
    ids = model.generate(pixels, max_new_tokens=16, num_beams=4)
    return [t.strip() for t in tokenizer.batch_decode(ids, skip_special_tokens=True)]


print(caption(sys.argv[1:]))
