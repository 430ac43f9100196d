import torch
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from gpt import GPT, Config, batches

torch.manual_seed(1337)
model = GPT(Config(layers=4, dropout=0.1)).to("cuda")
optimizer = model.configure_optimizers(weight_decay=0.1)
model = DistributedDataParallel(model)
training, held_out = batches("train"), batches("val")


@torch.no_grad()
def estimate():
    model.eval()  # EXPECT: missing_train_after_eval
    losses = torch.zeros(20)
    for index in range(20):
        ids, targets = next(held_out)
        losses[index] = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
    return losses.mean().item()


step = 0
while True:
    if step % 250 == 0:
        print(step, estimate())
    ids, targets = next(training)
    loss = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    step += 1
    if step > 5000:
        break
model.eval()
