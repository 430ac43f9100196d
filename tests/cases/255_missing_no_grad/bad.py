from dataclasses import dataclass
from pathlib import Path

import torch
from PIL import Image
from transformers import CLIPModel, CLIPProcessor


@dataclass
class SearchConfig:
    checkpoint: str = "openai/clip-vit-base-patch32"
    folder: Path = Path("images")
    device: str = "cuda"


class ImageSearch:
    def __init__(self, config: SearchConfig):
        self.config = config
        self.processor = CLIPProcessor.from_pretrained(config.checkpoint)
        self.model = CLIPModel.from_pretrained(config.checkpoint).to(config.device)
        self.paths = sorted(config.folder.glob("*.png"))
        self.index = torch.cat([self.encode_image(path) for path in self.paths])

    def encode_image(self, path):
        pixels = self.processor(images=Image.open(path), return_tensors="pt").to(self.config.device)
        features = self.model.get_image_features(**pixels)  # EXPECT: missing_no_grad
        return features / features.norm(dim=-1, keepdim=True)

    @torch.inference_mode()
    def find(self, text, k=3):
        tokens = self.processor(text=text, return_tensors="pt").to(self.config.device)
        query = self.model.get_text_features(**tokens)
        best = (self.index @ query[0]).topk(k).indices
        return [self.paths[i] for i in best.tolist()]


if __name__ == "__main__":
    print(ImageSearch(SearchConfig()).find("a red bicycle"))
