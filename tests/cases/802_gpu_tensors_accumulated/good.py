import torch
from torch import nn
from transformers import AutoModelForCausalLM


class Evaluator:
    def __init__(self, name):
        self.model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.bfloat16).cuda()
        self.model.eval()
        self.loss = nn.CrossEntropyLoss()

    @torch.inference_mode()
    def run(self, loader):
        kept, numbers = [], []
        for batch in loader:
            batch = {key: value.cuda() for key, value in batch.items()}
            out = self.model(**batch)
            numbers.append(out.loss)
            kept.append(out.logits.argmax(-1))
            kept.append(out.logits.to("cpu"))
        return torch.cat(kept), torch.stack(numbers).mean()
