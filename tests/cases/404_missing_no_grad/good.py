import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, set_seed

from blocks import batches

set_seed(0)
teacher = AutoModelForCausalLM.from_pretrained("gpt2-large").cuda().eval()
student = AutoModelForCausalLM.from_pretrained("distilgpt2").cuda()
optimizer = torch.optim.AdamW(student.parameters(), lr=5e-5)

student.train()
for ids in batches("train"):
    ids = ids.cuda()
    with torch.no_grad():
        wanted = teacher(ids).logits
    logits = student(ids).logits
    loss = F.kl_div(logits.log_softmax(-1), wanted.softmax(-1), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
