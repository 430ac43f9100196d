import torch
from transformers import AutoModelForCausalLM, set_seed

from blocks import loader


def finetune(name="gpt2", steps=1000, patience=3):
    set_seed(0)
    model = AutoModelForCausalLM.from_pretrained(name).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
    held_out = list(loader("valid", batch_size=4))
    best, waited = float("inf"), 0

    @torch.no_grad()
    def held_out_loss():
        model.eval()
        losses = [model(input_ids=ids.cuda(), labels=ids.cuda()).loss for ids in held_out]
        model.train()
        return torch.stack(losses).mean().item()

    model.train()
    for step, ids in zip(range(steps), loader("train", batch_size=4)):
        out = model(input_ids=ids.cuda(), labels=ids.cuda())
        out.loss.backward()
        hits = (out.logits.detach()[:, :-1].argmax(-1) == ids.cuda()[:, 1:]).float().mean().item()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 99:
            current = held_out_loss()
            print(step, current, hits)
            waited = 0 if current < best else waited + 1
            best = min(best, current)
            if waited == patience:
                break
    model.save_pretrained("tuned")


if __name__ == "__main__":
    finetune()
