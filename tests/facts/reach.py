"""Does it reach a gradient, a generation, a loss, a return?"""
import torch
import torch.nn.functional as F
from accelerate import Accelerator
from transformers import AutoModel

model = AutoModel.from_pretrained("gpt2")
teacher = AutoModel.from_pretrained("gpt2")
accelerator = Accelerator()
scaler = torch.amp.GradScaler("cuda")

out = model(1)  # fact: reaches gradient yes
out.loss.backward()
out = model(2)  # fact: reaches gradient yes
accelerator.backward(F.cross_entropy(out.logits, labels))
out = model(3)  # fact: reaches gradient yes
scaler.scale(out.loss).backward()
out = model(4)  # fact: reaches gradient yes
torch.autograd.grad(out.loss, model.parameters())
out = model(5)  # fact: reaches gradient no
print(out.loss.item())
out = model(6)  # fact: reaches gradient no
predicted = out.logits.argmax(-1)
(predicted * 2).sum().backward()
out = model(7)  # fact: reaches gradient no
out.logits.detach().sum().backward()
out = model(8)  # fact: reaches gradient unknown
keep(out)
out = model(10)  # fact: reaches gradient no
del out
student = model(11)  # fact: reaches gradient yes
taught = teacher(11)  # fact: reaches gradient yes
F.kl_div(student.logits, taught.logits).backward()
total = 0
for batch in batches:
    total = total + model(batch).loss  # fact: gradients yes
total.backward()
losses = []
for batch in batches:
    one = model(batch)  # fact: reaches gradient yes
    losses.append(one.loss)
torch.stack(losses).mean().backward()
numbers = []
for batch in batches:
    one = model(batch)  # fact: reaches gradient no
    numbers.append(one.loss.item())
print(sum(numbers))
kept = {"loss": None}
one = model(12)  # fact: reaches gradient yes
kept["loss"] = one.loss
kept["loss"].backward()
first, second = model(13), model(14)  # fact: reaches gradient yes
first.loss.backward()


class Holder:
    def compute(self, batch):
        self.loss = model(batch)  # fact: called an object, in compute < step
        return self.loss

    def step(self, batch):
        self.compute(batch)
        self.loss.backward()


Holder().step(1)


def given_back(batch):
    out = model(batch)  # fact: reaches gradient unknown; is only returned yes
    return out


def yielded(batch):
    out = model(batch)  # fact: reaches gradient unknown; is only returned yes
    yield out


def kept_outside(self, batch):
    out = model(batch)  # fact: reaches gradient unknown; is only returned no
    self.out = out


def closure(optimizer, batch):
    def again():
        optimizer.zero_grad()
        loss = model(batch)  # fact: reaches gradient yes
        loss.sum().backward()
        return loss

    optimizer.step(again)


def callback(register, batch):
    out = model(batch)  # fact: reaches gradient yes
    register(lambda: out.loss.backward())


def written(target, batch):
    out = model(batch)  # fact: reaches gradient unknown
    target.copy_(out.logits)


def hooked(batch):
    out = model(batch)  # fact: reaches gradient yes
    strange(out).backward()


def passed_by(batch):
    out = model(batch)  # fact: reaches gradient no
    print(len(out.logits), out.logits.shape)
    logging.info("%s", out)


def raised(batch):
    out = model(batch)  # fact: reaches gradient no
    if out.loss > 1:
        raise ValueError("too much")


def global_one(batch):
    global LAST
    LAST = model(batch)  # fact: reaches gradient unknown


def in_a_container(batch, results):
    out = model(batch)  # fact: reaches gradient unknown
    results["loss"] = out.loss


def in_two(batch, strange):
    out = model(batch)  # fact: reaches gradient unknown
    both = (out, 1)
    strange(*both)


def by_keywords(batch, strange):
    out = model(batch)  # fact: reaches gradient unknown
    strange(**{"loss": out.loss})


class Own(torch.nn.Module):
    def step(self, batch):
        out = self.net(batch)  # fact: reaches gradient unknown
        self.kept = out.loss

    def outputs(self, batch):
        out = self.net(batch)  # fact: reaches gradient unknown; is only returned yes
        return {"loss": out.loss, "logits": out.logits}


def nested(batch, keep):
    out = model(batch)  # fact: reaches gradient unknown
    keep({"inner": [out]})


def through_a_queue(queue, batch):
    out = model(batch)  # fact: reaches gradient no
    queue.put(out)
    other = queue.get()
    strange(other)
    print(other)  # fact: passed unknown
