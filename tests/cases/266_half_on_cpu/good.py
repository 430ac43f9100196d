import copy

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, set_seed

from blocks import BlockDataset


def main():
    set_seed(0)
    model = AutoModelForCausalLM.from_pretrained("gpt2-medium").cuda()
    loader = DataLoader(BlockDataset("train.bin", 512), batch_size=8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    scaler = torch.amp.GradScaler("cuda")
    model.train()
    for step, ids in enumerate(loader):
        ids = ids.cuda()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(input_ids=ids, labels=ids).loss
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if step % 50 == 0:
            print(step, loss.item())
    small = copy.deepcopy(model).half().eval()
    with torch.no_grad():
        print("check", small(input_ids=ids, labels=ids).loss.item())
    model.save_pretrained("gpt2-medium-tuned")


if __name__ == "__main__":
    main()
