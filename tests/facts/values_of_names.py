"""Item: conditional expressions, `global`, `nonlocal`, augmented assignment, `partial`, classes' attributes, properties."""

import functools
import sys
from enum import Enum
from functools import partial

NAME = "gpt2"
COUNT = 1
outside = sys.argv


def use():
    print(NAME)  # fact: passed 'gpt2'
    print(CHOSEN)  # fact: passed 'bert'
    print(NEVER)  # fact: passed unknown


def choose():
    global CHOSEN
    CHOSEN = "bert"


choose()
use()


def outer():
    inner_name = "gpt2"

    def change():
        nonlocal inner_name
        inner_name = "bert"

    print(inner_name)  # fact: passed 'gpt2'
    change()
    print(inner_name)  # fact: passed 'bert'


outer()


def perhaps():
    global PERHAPS
    if outside:
        PERHAPS = "bert"


PERHAPS = "gpt2"
perhaps()
print(PERHAPS)  # fact: passed 'gpt2' or 'bert'

print("a" if outside else "b")  # fact: passed 'a' or 'b'
print("a" if True else "b")  # fact: passed 'a'
print("a" if outside else unknown_name)  # fact: passed 'a' or unknown
size = "base" if outside else "large"
print(f"bert-{size}")  # fact: passed 'bert-base' or 'bert-large'
print("bert-" + size)  # fact: passed 'bert-base' or 'bert-large'
chosen = {"base": 1, "large": 2}[size]
print(chosen)  # fact: passed 1 or 2

text = "bert"
text += "-base"
print(text)  # fact: passed 'bert-base'
COUNT += 1
print(COUNT)  # fact: passed 2
for _ in outside:
    COUNT += 1
print(COUNT)  # fact: passed 2 or unknown
if outside:
    text += "-cased"
print(text)  # fact: passed 'bert-base-cased' or 'bert-base'
numbers = [1]
numbers += outside
print(numbers[0])  # fact: passed 1 or unknown


def load(name, size="base", *, revision="main"):
    print(f"{name}-{size}")  # fact: passed 'bert-base' | 'bert-large' | unknown
    print(revision)  # fact: passed 'main' | 'old' | unknown or 'main'


load_bert = partial(load, "bert")
load_bert()
load_large = functools.partial(load_bert, size="large", revision="old")
load_large()
load(*outside, **outside)


class Holder:
    NAME = "gpt2"
    sizes = ("base", "large")

    def __init__(self, name="bert", other=None):
        self.name = name
        self.other = other
        self.fixed = "xlnet"

    @property
    def full(self):
        return f"{self.name}-base"

    @functools.cached_property
    def cached(self):
        return self.fixed

    @staticmethod
    def static():
        return "static"

    @classmethod
    def make(cls):
        return cls(name=cls.NAME)

    def set(self):
        self.later = "later"
        return self


holder = Holder()
print(holder.name)  # fact: passed 'bert'
print(holder.full)  # fact: passed 'bert-base'
print(holder.cached)  # fact: passed 'xlnet'
print(Holder.NAME)  # fact: passed 'gpt2'
print(holder.NAME)  # fact: passed 'gpt2' by default
print(Holder.sizes[1])  # fact: passed 'large'
print(Holder.static())  # fact: passed 'static'
print(holder.static())  # fact: passed 'static'
print(Holder.make().name)  # fact: passed 'gpt2'
print(Holder("x").full)  # fact: passed 'x-base'
print(holder.set().later)  # fact: passed 'later'
print(Holder(outside).name)  # fact: passed sys.argv
print(Holder(outside).full)  # fact: passed unknown
print(holder.never)  # fact: passed `Holder.never` from outside
holder.name = "changed"
print(holder.full)  # fact: passed 'changed-base'
setattr(holder, "name", "again")
print(holder.name)  # fact: passed 'again'
setattr(holder, outside, "what")
print(holder.name)  # fact: passed 'again' or unknown


class Kind(Enum):
    SMALL = "gpt2"
    LARGE = "gpt2-xl"


print(Kind.SMALL.value)  # fact: passed 'gpt2'
print(Kind[outside].value)  # fact: passed unknown


class Derived(Holder):
    NAME = "bert"

    def __init__(self):
        super().__init__(name="derived")


print(Derived().full)  # fact: passed 'derived-base'
print(Derived().NAME)  # fact: passed 'bert' by default
print((lambda x: x + "-base")("bert"))  # fact: passed 'bert-base'
print(undefined)  # fact: passed unknown
print(holder.unknown_method())  # fact: passed unknown
try:
    import tomllib as toml
except ImportError:
    toml = None
print(toml)  # fact: passed tomllib or None
print(sys.platform)  # fact: passed sys.platform
print(outside[0])  # fact: passed unknown
print(Holder.never)  # fact: passed unknown
print(partial(outside)())  # fact: passed some sys.argv
print(partial(unknown_name, "bert")())  # fact: passed unknown
print(size if outside else outside[0])  # fact: passed 'base' or 'large' or unknown
PERHAPS += outside
print(PERHAPS)  # fact: passed unknown
