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
        logp = F.log_softmax(self.lm(full).logits, dim=-1)  # EXPECT: missing_no_grad
        target = full[0, ctx.shape[1] :]
        return logp[0, ctx.shape[1] - 1 : -1].gather(1, target[:, None]).sum().item()

    def choose(self, question, choices):
        return max(choices, key=lambda c: self.loglikelihood(question, " " + c))


print(MultipleChoice().choose("Water boils at", ["100 degrees", "5 degrees"]))
