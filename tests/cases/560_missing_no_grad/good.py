import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer


class MultipleChoice:
    def __init__(self, name="facebook/opt-1.3b"):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.lm = AutoModelForCausalLM.from_pretrained(name)

    def loglikelihood(self, context, continuation):
        ctx = self.tokenizer(context, return_tensors="pt").input_ids
        full = self.tokenizer(context + continuation, return_tensors="pt").input_ids
        logp = F.log_softmax(self.lm(full).logits, dim=-1)
        target = full[0, ctx.shape[1] :]
        return logp[0, ctx.shape[1] - 1 : -1].gather(1, target[:, None]).sum().item()

    @torch.inference_mode()
    def choose(self, question, choices):
        return max(choices, key=lambda c: self.loglikelihood(question, " " + c))


def tune_prompt(lm, batches, length=20):
    for parameter in lm.parameters():
        parameter.requires_grad_(False)
    torch.manual_seed(0)
    prompt = torch.nn.Parameter(torch.randn(1, length, lm.config.hidden_size) * 0.02)
    optimizer = torch.optim.Adam([prompt], lr=0.3)
    for ids in batches:
        embeds = torch.cat([prompt.expand(len(ids), -1, -1), lm.get_input_embeddings()(ids)], dim=1)
        labels = torch.cat([torch.full((len(ids), length), -100), ids], dim=1)
        loss = lm(inputs_embeds=embeds, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return prompt


print(MultipleChoice().choose("Water boils at", ["100 degrees", "5 degrees"]))
