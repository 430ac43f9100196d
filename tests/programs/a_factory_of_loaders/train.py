import torch
import torch.distributed as dist
from loaders import make_loader
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModelForCausalLM

def main(epochs=4):
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    model = DistributedDataParallel(AutoModelForCausalLM.from_pretrained("gpt2").cuda())
    optimizer = torch.optim.AdamW(model.parameters())
    loader = make_loader(torch.load("rows.pt", weights_only=True), 8)
    for epoch in range(epochs):
        for batch in loader:  # <- LLM601
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

if __name__ == "__main__":
    main()
