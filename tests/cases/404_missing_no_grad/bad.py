import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, set_seed

from blocks import batches

set_seed(0)
teacher = AutoModelForCausalLM.from_pretrained("gpt2-large").cuda().eval()
student = AutoModelForCausalLM.from_pretrained("distilgpt2").cuda()
optimizer = torch.optim.AdamW(student.parameters(), lr=5e-5)


def remember(loader):
    cache = {}
    for index, ids in enumerate(loader):
        top = teacher(ids.cuda()).logits.topk(16)  # EXPECT: missing_no_grad
        cache[index] = (top.values.half().cpu(), top.indices.cpu())
    torch.save(cache, "teacher.pt")


remember(batches("train"))
targets = torch.load("teacher.pt", weights_only=True)
student.train()
for index, ids in enumerate(batches("train")):
    values, indices = targets[index]
    logits = student(ids.cuda()).logits.gather(-1, indices.cuda())
    loss = F.kl_div(logits.log_softmax(-1), values.cuda().float().softmax(-1), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
