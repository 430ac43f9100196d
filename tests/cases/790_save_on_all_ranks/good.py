import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModelForCausalLM


def main():
    local_rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    writes = rank == 0
    torch.cuda.set_device(local_rank)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_pretrained("openai-community/gpt2").to(local_rank)
    model = DistributedDataParallel(model, device_ids=[local_rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    losses = []
    model.train()
    for step, batch in enumerate(torch.load("batches.pt", weights_only=True)):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        if step % 1000 == 0 and writes:
            model.module.save_pretrained("checkpoints/last")
    torch.save(losses, f"losses-{rank}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
