"""Item: dictionaries, `**kwargs` built from a known one, comprehensions, unpacking, `match`, walrus."""

import copy
import sys
from types import SimpleNamespace

KNOWN = {"name": "gpt2", "size": 2}
outside = sys.argv[1]


def keep(**kwargs):
    print(kwargs["name"])  # fact: passed 'gpt2'
    print(kwargs.get("size", 7))  # fact: passed 2
    print(kwargs.get("absent", 7))  # fact: passed 7
    return kwargs


def forward(*args, **kwargs):
    return keep(*args, **kwargs)


keep(**KNOWN)
forward(**KNOWN)


def given(name="bert", **kwargs):
    print(name)  # fact: passed 'gpt2' | 'bert' | unknown or 'bert'
    print(kwargs.get('size'))  # fact: passed 2 | None | unknown


given(**KNOWN)
given()
given(**outside)

merged = {**KNOWN, "size": 3}
print(merged["size"])  # fact: passed 3
print(merged["name"])  # fact: passed 'gpt2'
print((KNOWN | {"size": 4})["size"])  # fact: passed 4
print({**KNOWN, **outside}["name"])  # fact: passed 'gpt2' or 2 or unknown
print(dict(name="gpt2")["name"])  # fact: passed 'gpt2'
print(dict(KNOWN)["name"])  # fact: passed 'gpt2'
print(dict(KNOWN, size=9)["size"])  # fact: passed 9
print(dict([("name", "gpt2")])["name"])  # fact: passed 'gpt2'
print(copy.deepcopy(KNOWN)["name"])  # fact: passed 'gpt2'
print(KNOWN.copy()["name"])  # fact: passed 'gpt2'
print(SimpleNamespace(**KNOWN).name)  # fact: passed 'gpt2'
updated = dict(KNOWN)
updated.update(size=5)
print(updated["size"])  # fact: passed 5
updated[outside] = 6
print(updated["size"])  # fact: passed 5 or 6
removed = {"name": "gpt2"}
del removed["name"]
print(removed["name"])  # fact: passed unknown
nested = {"model": {"name": "gpt2", "tokenizer": {"name": "bert"}}}
print(nested["model"]["tokenizer"]["name"])  # fact: passed 'bert'
nested["model"]["name"] = "xlnet"
print(nested["model"]["name"])  # fact: passed 'xlnet'
print(nested[outside]["name"])  # fact: passed 'xlnet'

names = ["gpt2", "bert"]
print(names[0])  # fact: passed 'gpt2'
print(names[-1])  # fact: passed 'bert'
print(names[int(outside)])  # fact: passed 'gpt2' or 'bert'
first, second = names
print(second)  # fact: passed 'bert'
(one, (two, three)) = "a", ("b", "c")
print(three)  # fact: passed 'c'
head, *tail = "a", "b", "c"
print(head)  # fact: passed 'a'
print(tail)  # fact: passed ['b', 'c']
*begin, last = "a", "b", "c"
print(last)  # fact: passed 'c'
left, right = outside
print(left)  # fact: passed unknown
for name in names:
    print(name)  # fact: passed 'gpt2' or 'bert'
for name in outside:
    print(name)  # fact: passed unknown
for name, size in {"gpt2": 1, "bert": 2}.items():
    print(name)  # fact: passed 'gpt2' or 'bert'
    print(size)  # fact: passed 1 or 2
for index, name in enumerate(names):
    print(name)  # fact: passed 'gpt2' or 'bert'
    print(index)  # fact: passed unknown
for name, size in zip(names, [1, 2]):
    print(size)  # fact: passed 1 or 2
print([f"{name}-xl" for name in outside][0])  # fact: passed unknown
for made in [f"{name}-xl" for name in names]:
    print(made)  # fact: passed 'gpt2-xl' or 'bert-xl'
for made in [name for name in ["gpt2"]]:
    print(made)  # fact: passed 'gpt2'
for made in [name for name in outside]:
    print(made)  # fact: passed unknown
table = {name: name for name in ["gpt2"]}
print(table["gpt2"])  # fact: passed 'gpt2' by default
print(next(iter(names)))  # fact: passed 'gpt2' or 'bert'
names.append("xlnet")
print(names[0])  # fact: passed 'gpt2' or 'bert' or 'xlnet'
print(names + ["more"])  # fact: passed unknown

if (found := KNOWN.get("name")) is not None:
    print(found)  # fact: passed 'gpt2'
print((again := outside))  # fact: passed unknown
while chunk := sys.stdin.read(2):
    print(chunk)  # fact: passed some sys.stdin.read

match KNOWN:
    case {"name": matched}:
        print(matched)  # fact: passed 'gpt2'
match ("a", "b"):
    case (one, two):
        print(two)  # fact: passed 'b'
match outside:
    case "small":
        size = "gpt2"
    case "large":
        size = "gpt2-xl"
    case other:
        size = other
        print(other)  # fact: passed unknown
print(size)  # fact: passed 'gpt2' or 'gpt2-xl' or unknown
match outside:
    case "a" | "b" as word:
        kind = "known"
        print(word)  # fact: passed 'a' or 'b'
    case _:
        kind = "unknown kind"
print(kind)  # fact: passed 'known' or 'unknown kind'
print({}["absent"])  # fact: passed unknown
given(*outside)
fill(updated)
print(updated.get("absent"))  # fact: passed 'gpt2' or 2 or 5 or 6
print(updated.popitem())  # fact: passed unknown
for key, value in outside.items():
    print(key)  # fact: passed unknown
    print(value)  # fact: passed unknown
print(outside["name"])  # fact: passed unknown
print(dict(outside)["name"])  # fact: passed unknown
print([*outside][0])  # fact: passed unknown
print((lambda **rest: rest["name"])(**outside))  # fact: passed unknown
