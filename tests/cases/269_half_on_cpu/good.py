import torch
from transformers import AutoModel, AutoTokenizer


class Embedder:
    def __init__(self, name: str = "thenlper/gte-base"):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.dtype = torch.float16 if self.device.type == "cuda" else torch.float32
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name)
        self.model.to(self.device, self.dtype)
        self.model.eval()

    @torch.inference_mode()
    def encode(self, texts: list[str]) -> torch.Tensor:
        batch = self.tokenizer(texts, padding=True, return_tensors="pt").to(self.device)
        return self.model(**batch).last_hidden_state[:, 0].float().cpu()


if __name__ == "__main__":
    print(Embedder().encode(["a query", "a passage"]).shape)
