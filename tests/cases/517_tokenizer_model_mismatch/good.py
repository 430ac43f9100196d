import sys

import torch
from PIL import Image
from transformers import (
    AutoTokenizer,
    TrOCRProcessor,
    VisionEncoderDecoderModel,
    ViTImageProcessor,
)

NAME = "nlpconnect/vit-gpt2-image-captioning"

model = VisionEncoderDecoderModel.from_pretrained(NAME)
processor = ViTImageProcessor.from_pretrained("google/vit-base-patch16-224-in21k")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
ocr_processor = TrOCRProcessor.from_pretrained("microsoft/trocr-large-printed")
ocr = VisionEncoderDecoderModel.from_pretrained("microsoft/trocr-base-printed")


def caption(paths):
    images = [Image.open(p).convert("RGB") for p in paths]
    pixels = processor(images=images, return_tensors="pt").pixel_values
    ids = model.generate(pixels, max_new_tokens=16, num_beams=4)
    return [t.strip() for t in tokenizer.batch_decode(ids, skip_special_tokens=True)]


def read(path):
    pixels = ocr_processor(Image.open(path).convert("RGB"), return_tensors="pt").pixel_values
    return ocr_processor.batch_decode(ocr.generate(pixels), skip_special_tokens=True)[0]


print(caption(sys.argv[1:]), read(sys.argv[1]))
