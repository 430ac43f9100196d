import torch
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

NAME = "facebook/opt-1.3b"


class SoftPrompt(nn.Module):
    def __init__(self, length=20):
        super().__init__()
        self.lm = AutoModelForCausalLM.from_pretrained(NAME, torch_dtype=torch.float16).cuda()  # EXPECT: half_on_cpu
        self.lm.requires_grad_(False)
        self.prompt = nn.Parameter(torch.randn(1, length, self.lm.config.hidden_size, device="cuda"))

    def forward(self, ids):
        words = self.lm.get_input_embeddings()(ids)
        embedded = torch.cat([self.prompt.expand(len(ids), -1, -1), words.float()], dim=1)
        return self.lm(inputs_embeds=embedded).logits[:, self.prompt.shape[1] :]


def main(lines):
    set_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    net = SoftPrompt()
    optimizer = torch.optim.Adam([net.prompt], lr=1e-2)
    for line in lines:
        ids = tokenizer(line, return_tensors="pt").input_ids.cuda()
        loss = nn.functional.cross_entropy(net(ids)[0, :-1].float(), ids[0, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main(open("lines.txt", encoding="utf-8").read().splitlines())
