import torch
from transformers import AutoModel, AutoTokenizer


class Embedder:
    def __init__(self, name="intfloat/e5-base-v2", device="cuda"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).to(device)
        self.device = device

    @torch.no_grad()
    def __call__(self, texts, prefix="passage: "):
        batch = self.tokenizer(
            [prefix + text for text in texts],
            padding=True,
            truncation=True,  # EXPECT: silent_truncation
            max_length=512,
            return_tensors="pt",
        ).to(self.device)
        hidden = self.model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


def build_index(pages):
    embed = Embedder()
    return torch.cat([embed(pages[i : i + 16]).cpu() for i in range(0, len(pages), 16)])


if __name__ == "__main__":
    with open("wiki.txt", encoding="utf-8") as handle:
        torch.save(build_index(handle.read().split("\f")), "index.pt")
