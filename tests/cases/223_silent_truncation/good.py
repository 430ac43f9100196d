import torch
from transformers import AutoModel, AutoTokenizer


class Embedder:
    def __init__(self, name="intfloat/e5-base-v2", device="cuda", limit=512):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModel.from_pretrained(name).to(device)
        self.device = device
        self.limit = limit

    def passages(self, page, prefix="passage: ", overlap=50):
        """The page in pieces that fit, by tokens."""
        ids = self.tokenizer(page, add_special_tokens=False)["input_ids"]
        room = self.limit - len(self.tokenizer(prefix)["input_ids"]) - 2
        for start in range(0, len(ids), room - overlap):
            yield prefix + self.tokenizer.decode(ids[start : start + room])

    @torch.no_grad()
    def __call__(self, page):
        batch = self.tokenizer(
            list(self.passages(page)),
            padding=True,
            truncation=True,
            max_length=self.limit,
            return_tensors="pt",
        ).to(self.device)
        hidden = self.model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


def build_index(pages):
    embed = Embedder()
    return torch.cat([embed(page).cpu() for page in pages])


if __name__ == "__main__":
    with open("wiki.txt", encoding="utf-8") as handle:
        torch.save(build_index(handle.read().split("\f")), "index.pt")
