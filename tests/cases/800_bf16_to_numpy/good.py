import numpy as np
import torch
from transformers import CLIPModel, CLIPProcessor


def load(name="openai/clip-vit-base-patch32"):
    model = CLIPModel.from_pretrained(name, torch_dtype=torch.bfloat16)
    return model.to("cuda").eval(), CLIPProcessor.from_pretrained(name)


def index(batches, path):
    model, processor = load()
    rows, logits = [], []
    with torch.no_grad():
        for images, captions in batches:
            inputs = processor(text=captions, images=images, padding=True, return_tensors="pt").to("cuda", torch.bfloat16)
            output = model(**inputs)
            vectors = output.image_embeds
            vectors = vectors / vectors.norm(dim=-1, keepdim=True)
            rows.append(vectors.float().cpu().numpy())
            logits.append(output.text_embeds.argmax(dim=-1).cpu().numpy())
    np.save(path, np.concatenate(rows))
    return np.concatenate(logits)
