import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, set_seed

from blocks import BlockDataset


def main():
    set_seed(0)
    model = AutoModelForCausalLM.from_pretrained("gpt2-medium")
    model.half().cuda()  # EXPECT: half_on_cpu
    loader = DataLoader(BlockDataset("train.bin", 512), batch_size=8, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    model.train()
    for step, ids in enumerate(loader):
        ids = ids.cuda()
        loss = model(input_ids=ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, loss.item())
    model.save_pretrained("gpt2-medium-tuned")


if __name__ == "__main__":
    main()
