"""Imports inside the project: relative, absolute, re-exported, `src/`, namespace packages, circles."""
import pathlib

import company
import settings
import tools.names
from settings import NAME, SIZE as size
from tools import load, reexported
from tools.models import Network, build

print(NAME)  # fact: passed 'gpt2'
print(size)  # fact: passed 2
print(settings.NAME)  # fact: passed 'gpt2'
print(settings.TABLE["inner"]["name"])  # fact: passed 'bert'
print(tools.names.DEFAULT)  # fact: passed 'gpt2-xl'
print(load())  # fact: passed 'gpt2'
print(reexported)  # fact: passed 'gpt2-xl'
build()(1)  # fact: loaded as `gpt2`
Network()(1)  # fact: called an object, in the module
print(settings.ABSENT)  # fact: passed settings.ABSENT
print(settings.CHOSEN)  # fact: passed 'a' or 'b'
print(settings.FROM_OUTSIDE)  # fact: passed unknown
print(settings.guarded)  # fact: passed settings.guarded
print(company.NAME)  # fact: passed company.NAME
print(company.load())  # fact: passed unknown
print(company.settings["name"])  # fact: passed unknown
# -------- settings.py
import sys

NAME = "gpt2"
SIZE = 2
TABLE = {"inner": {"name": "bert"}}
CHOSEN = "a" if len(sys.argv) else "b"
FROM_OUTSIDE = sys.argv[1]
if __name__ == "__main__":
    guarded = "yes"
# -------- tools/__init__.py
from .names import DEFAULT as reexported
from .loading import load
# -------- tools/names.py
DEFAULT = "gpt2" + "-xl"
# -------- tools/loading.py
from settings import NAME
def load():
    # text that speaks of from_pretrained is worth entering
    return NAME
# -------- tools/models.py
from torch import nn
from transformers import AutoModel
class Network(nn.Module):
    def forward(self, x):
        return x
def build(name="gpt2"):
    return AutoModel.from_pretrained(name)
# ======== a circle ends
from first import NAME

print(NAME)  # fact: passed first.NAME
# -------- first.py
from second import OTHER
NAME = OTHER
# -------- second.py
from first import NAME
OTHER = NAME
# ======== a `src` layout, a namespace package
from app.inner.names import NAME
from app.inner import names

print(NAME)  # fact: passed 'gpt2'
print(names.NAME)  # fact: passed 'gpt2'
# -------- app/inner/names.py
NAME = "gpt2"
# ======== bases in other files
from layers import Encoder, Plain

Encoder()(1)  # fact: is in evaluation mode no
Plain()  # fact: called Plain, in the module
# -------- layers.py
from bases import Base, Nothing
class Encoder(Base):
    def forward(self, x):
        return x
class Plain(Nothing):
    pass
# -------- bases.py
import torch
class Base(torch.nn.Module):
    pass
class Nothing:
    pass
# ======== a context of another file
import torch
from contexts import quiet, evaluating
from transformers import AutoModel

model = AutoModel.from_pretrained("gpt2")
with quiet():
    model(1)  # fact: gradients no
with evaluating(model):
    model(1)  # fact: gradients no


@quiet_decorator
def embed(batch):
    return model(batch)  # fact: gradients unknown
# -------- contexts.py
import contextlib
import torch
@contextlib.contextmanager
def quiet():
    with torch.no_grad():
        yield
@contextlib.contextmanager
def evaluating(model):
    model.eval()
    with torch.inference_mode():
        yield model
# ======== a caller in another file decides the context
def embed(model, batch):
    model.eval()
    return model(batch)  # fact: gradients yes; gradients for callers no
# -------- main.py
import torch
from program import embed
with torch.no_grad():
    embed(unknown_model, 1)
# ======== callers in two files disagree
def embed(model, batch):
    model.eval()
    return model(batch)  # fact: gradients for callers yes
# -------- main.py
import torch
from program import embed
with torch.no_grad():
    embed(unknown_model, 1)
# -------- other.py
from program import embed
embed(unknown_model, 1)
# ======== a caller that nobody can tell
def embed(model, batch):
    model.eval()
    return model(batch)  # fact: gradients for callers unknown
# -------- main.py
from program import embed
from company import quiet
with quiet():
    embed(unknown_model, 1)
# ======== a star import inside the project
from settings import *

print(NAME)  # fact: passed unknown
# -------- settings.py
NAME = "gpt2"
# ======== a name that is chosen when the module is imported
import settings
from settings import load_it, perhaps

print(settings.NAME)  # fact: passed 'gpt2' or some json.load
print(perhaps)  # fact: passed 'a' or company.perhaps
print(load_it())  # fact: passed unknown
# -------- settings.py
import json
import os
NAME = "gpt2" if os.path.exists("x") else json.load(open("name.json"))
try:
    from company import perhaps
except ImportError:
    perhaps = "a"
def load_it():
    return json.load(open("name.json"))
# ======== a broken module
from broken import NAME, other

print(NAME)  # fact: passed 'gpt2'
print(other())  # fact: passed unknown
# -------- broken.py
NAME = "gpt2"
def other(:
    return 1
# ======== a module outside of the project, and one that is not there
from company.models import TinyGPT
from .nowhere import name

print(TinyGPT())  # fact: passed `TinyGPT` from outside
TinyGPT()(1)  # fact: is in evaluation mode unknown
print(name)  # fact: passed .nowhere.name
# ======== what a function of another file gives may be anything
from tools import chosen, nothing

print(chosen(1))  # fact: passed unknown or 'a'
print(nothing())  # fact: passed unknown
# -------- tools.py
def chosen(flag):
    # from_pretrained
    return unknown_name if flag else "a"
def nothing():
    return input("what")
# ======== what is only known when it runs
import importlib
from settings import table

print(importlib.import_module("settings").NAME)  # fact: passed unknown
print(table[input()])  # fact: passed 'a' or 'b'
print(table["absent"])  # fact: passed unknown
# -------- settings.py
NAME = "gpt2"
table = {"first": "a", "second": "b"}
# ======== a variable that another module overwrites
import settings
from reader import copy, read
import tuning

print(settings.NAME)  # fact: passed 'gpt2'
settings.NAME = "bert"
print(settings.NAME)  # fact: passed 'bert'
print(read())  # fact: passed 'bert'
print(copy())  # fact: passed 'bert' or 'gpt2'
if settings.SIZE > 1:
    settings.NAME = "t5"
print(read())  # fact: passed 't5' or 'bert'
tuning.enlarge()
print(settings.SIZE)  # fact: passed 4
settings.LATER = "new"
print(settings.LATER)  # fact: passed 'new'
settings.NAME = input()
print(read())  # fact: passed unknown
print(copy())  # fact: passed 'bert' or 'gpt2'
tuning.choose(input())
print(settings.SIZE)  # fact: passed 4 or unknown
settings.SIZE = settings.LATER = input("which")
print(settings.SIZE)  # fact: passed unknown
print(settings.LATER)  # fact: passed unknown
# -------- settings.py
NAME = "gpt2"
SIZE = 2
# -------- reader.py
# from_pretrained
import settings
from settings import NAME
def read():
    # from_pretrained
    return settings.NAME
def copy():
    # from_pretrained
    return NAME
# -------- tuning.py
import settings
def enlarge():
    # from_pretrained
    settings.SIZE = 4
def choose(size):
    # from_pretrained
    if size:
        settings.SIZE = size
# ======== the variables of another module are set by names that are not known
import json
import settings
from settings import WIDTH

setattr(settings, "NAME", "bert")
print(settings.NAME)  # fact: passed 'bert'
for key, value in json.load(open("settings.json")).items():
    setattr(settings, key, value)
print(settings.NAME)  # fact: passed 'bert' or unknown
print(settings.SIZE)  # fact: passed 2 or unknown
print(WIDTH)  # fact: passed 3 or unknown
print(settings.ABSENT)  # fact: passed settings.ABSENT
# -------- settings.py
NAME = "gpt2"
SIZE = 2
WIDTH = 3
# ======== a function that nobody calls may overwrite a variable of another module
import settings

def choose(name):
    settings.NAME = "bert"
def show():
    print(settings.NAME)  # fact: passed settings.NAME
print(settings.NAME)  # fact: passed 'gpt2'
# -------- settings.py
NAME = "gpt2"
# ======== a function of another module is entered for a model, whatever its text speaks of
import torch
from transformers import AutoModel, AutoTokenizer
from tools import both, run

model = AutoModel.from_pretrained("gpt2")
tokenizer = AutoTokenizer.from_pretrained("gpt2")
run(model, 1)
with torch.no_grad():
    print(both(model, 2))  # fact: passed 'done'
# -------- tools.py
def run(network, batch):
    return network(batch)
def both(network, batch):
    network(batch)
    return "done"
