"""Into functions, methods, closures, callbacks, `super()`, hooks, trainers, `map`, handlers; bounded, and unknown at a bound."""
import functools
from concurrent.futures import ThreadPoolExecutor

import lightning
import torch
from datasets import load_dataset
from fastapi import FastAPI
from transformers import AutoModel, AutoTokenizer, Trainer

app = FastAPI()
model = AutoModel.from_pretrained("gpt2")
tokenizer = AutoTokenizer.from_pretrained("gpt2")


def deep(batch):
    return model(batch)  # fact: called an object, in deep < middle < top


def middle(batch):
    return deep(batch)


def top(batch):
    return middle(batch)


top(1).loss.backward()


def six(n):
    return model(n)  # fact: called an object, in six


def five(n):
    return six(n)


def four(n):
    return five(n)


def three(n):
    return four(n)


def two(n):
    return three(n)


def one(n):
    return two(n)


def zero(n):
    return one(n)


print(zero(1))  # fact: passed unknown


def again(n):
    if n:
        return again(n - 1)
    return "end"


print(again(3))  # fact: passed 'end' or unknown


def ping(n):
    return pong(n)


def pong(n):
    return ping(n) if n else "end"


print(ping(3))  # fact: passed unknown or 'end'


def makes_closure(name):
    def inner():
        return name

    return inner


print(makes_closure("gpt2")())  # fact: passed 'gpt2'
counters = [lambda: name for name in ["a"]]
print(counters[0]())  # fact: passed unknown


def with_callback(callback, value):
    return callback(value)


print(with_callback(lambda x: x + "!", "a"))  # fact: passed 'a!'
print(with_callback(str.upper, "a"))  # fact: passed unknown
print(with_callback(unknown_callback, "a"))  # fact: passed unknown
table = {"first": lambda: "one", "second": lambda: "two"}
print(table["first"]())  # fact: passed 'one'
print(table[unknown_key]())  # fact: passed 'one' or 'two'


class Base:
    def __init__(self, name):
        self.name = name

    def run(self, batch):
        return self.step(batch)

    def step(self, batch):
        raise NotImplementedError


class Child(Base):
    def __init__(self):
        super().__init__("child")

    def step(self, batch):
        return model(batch)  # fact: called an object, in step < run


child = Child()
print(child.name)  # fact: passed 'child'
child.run(1).loss.backward()


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = AutoModel.from_pretrained("bert-base-uncased")

    def training_step(self, batch, index):
        out = self.net(batch)  # fact: reaches gradient yes; loaded as `bert-base-uncased`
        return out.loss

    def validation_step(self, batch, index):
        self.shared(batch)

    def shared(self, batch):
        return self.net(batch)  # fact: gradients no


class OwnTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        out = model(**inputs)  # fact: reaches gradient yes
        return (out.loss, out) if return_outputs else out.loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        return model(**inputs)  # fact: gradients no


def compute_metrics(prediction):
    return model(prediction)  # fact: gradients no


def encode(row):
    return tokenizer(row["text"], truncation=True)  # fact: passed unknown, truncation=True


dataset = load_dataset("imdb")
dataset.map(encode, batched=True)
dataset.map(lambda row: model(row))  # fact: called map, in the module


@app.post("/embed")
def embed(text: str):
    return model(text)  # fact: gradients yes


@app.get("/ask")
async def ask(text: str):
    return model.generate(text)  # fact: is prepared no; keeps others waiting yes


executor = ThreadPoolExecutor()
executor.submit(top, 2)
functools.reduce(unknown_function, [1])


@functools.lru_cache
def cached(name):
    return model(name)  # fact: gradients yes


def fixture_like(strange):
    return strange.call(lambda: model(1))  # fact: called call, in fixture_like


def apply(function, batch):
    with torch.no_grad():
        return function(batch)


apply(model, 1)
if __name__ == "__main__":
    print("main")  # fact: passed 'main'
    print(undefined())  # fact: passed unknown
    print(unknown_function(executor))  # fact: passed unknown
    print(super_of(child).name)  # fact: passed unknown
    print(sorted(unknown_list, key=unknown_function)[0])  # fact: passed unknown
