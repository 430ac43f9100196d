"""Item: argparse, environment, dataclasses, attrs, pydantic, NamedTuple, `or`, `get`, `getattr`."""

import argparse
import os
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import attr
import attrs
from pydantic import BaseModel, Field
from transformers import HfArgumentParser

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="gpt2")
parser.add_argument("--model-size", type=int, default=2)
parser.add_argument("-t", "--tokenizer", dest="tok", default="bert")
parser.add_argument("--name")
parser.add_argument("path", nargs="?", default="here")
parser.add_argument("--amp", action="store_true")
group = parser.add_argument_group("more")
group.add_argument("--revision", default="main")
parser.set_defaults(device="cuda")
args = parser.parse_args()

print(args.model)  # fact: passed 'gpt2' by default
print(args.model_size)  # fact: passed 2 by default
print(args.tok)  # fact: passed 'bert' by default
print(args.name)  # fact: passed `args.name` from outside
print(args.path)  # fact: passed 'here' by default
print(args.revision)  # fact: passed 'main' by default
print(args.device)  # fact: passed 'cuda' by default
print(args.amp)  # fact: passed False by default
print(args.other)  # fact: passed `args.other` from outside
print(vars(args)["model"])  # fact: passed unknown
print(f"{args.model}-xl")  # fact: passed 'gpt2-xl' by default
known, rest = parser.parse_known_args()
print(known.model)  # fact: passed 'gpt2' by default
print(rest)  # fact: passed unknown

print(os.environ.get("MODEL", "gpt2"))  # fact: passed 'gpt2' by default
print(os.getenv("MODEL", "gpt2"))  # fact: passed 'gpt2' by default
print(os.environ.get("MODEL"))  # fact: passed some os.environ.get
print(os.getenv("MODEL") or "gpt2")  # fact: passed some os.getenv or 'gpt2'
print(os.environ["MODEL"])  # fact: passed unknown
print(os.environ.setdefault("MODEL", "gpt2"))  # fact: passed 'gpt2' by default


@dataclass
class Settings:
    name: str = "gpt2"
    limit: Optional[int] = None
    tags: list = field(default_factory=list)
    device: str = field(default="cuda")

    @property
    def full(self):
        return f"{self.name}-xl"


print(Settings().name)  # fact: passed 'gpt2' by default
print(Settings(name="bert").name)  # fact: passed 'bert'
print(Settings("bert").name)  # fact: passed 'bert'
print(Settings().device)  # fact: passed 'cuda' by default
print(Settings().limit)  # fact: passed `Settings.limit` from outside
print(Settings(name="bert").full)  # fact: passed 'bert-xl'
print(Settings().full)  # fact: passed 'gpt2-xl' by default


@attr.s(auto_attribs=True)
class Old:
    name: str = "gpt2"
    other: str = attr.ib(default="bert")


@attrs.define
class New:
    name: str = "gpt2"
    other: str = attrs.field(default="bert")


class Model(BaseModel):
    name: str = "gpt2"
    other: str = Field(default="bert")
    third: str = Field("roberta")
    limit: int


class Row(NamedTuple):
    name: str = "gpt2"
    size: int = 2


print(Old().name)  # fact: passed 'gpt2' by default
print(Old().other)  # fact: passed 'bert' by default
print(New("xlnet").name)  # fact: passed 'xlnet'
print(New().other)  # fact: passed 'bert' by default
print(Model(limit=1).name)  # fact: passed 'gpt2' by default
print(Model(limit=1).other)  # fact: passed 'bert' by default
print(Model(limit=1).third)  # fact: passed 'roberta' by default
print(Model(limit=1).limit)  # fact: passed 1
print(Row().name)  # fact: passed 'gpt2' by default
print(Row("bert").name)  # fact: passed 'bert'
print(Row("bert")[0])  # fact: passed 'bert'
name, size = Row("bert", 3)
print(name)  # fact: passed 'bert'


@dataclass
class ModelArguments:
    model_name: str = "gpt2"
    revision: Optional[str] = field(default=None, metadata={"help": "which"})


@dataclass
class DataArguments:
    path: str
    limit: int = field(default=512)


(model_args, data_args) = HfArgumentParser((ModelArguments, DataArguments)).parse_args_into_dataclasses()
print(model_args.model_name)  # fact: passed 'gpt2' by default
print(model_args.revision)  # fact: passed `parsed 0.revision` from outside
print(data_args.limit)  # fact: passed 512 by default
print(data_args.path)  # fact: passed `parsed 1.path` from outside
hf = HfArgumentParser(ModelArguments)
(only,) = hf.parse_args_into_dataclasses()
print(only.model_name)  # fact: passed 'gpt2' by default

settings = {"name": "gpt2", "inner": {"size": 2}}
print(settings.get("name"))  # fact: passed 'gpt2'
print(settings.get("name", "bert"))  # fact: passed 'gpt2'
print(settings.get("other", "bert"))  # fact: passed 'bert'
print(settings.get("other"))  # fact: passed None
print(settings.get("inner", {}).get("size"))  # fact: passed 2
print(settings["inner"]["size"])  # fact: passed 2
print(settings["absent"])  # fact: passed unknown
print(getattr(args, "model", "bert"))  # fact: passed 'gpt2' by default
print(getattr(args, "absent", "bert"))  # fact: passed `args.absent` from outside or 'bert'
print(getattr(Settings(), "name"))  # fact: passed 'gpt2' by default
print(args.name or "bert")  # fact: passed `args.name` from outside or 'bert'
print(None or "bert")  # fact: passed 'bert'
print("" or "bert")  # fact: passed 'bert'
print(args.model or "bert")  # fact: passed 'gpt2' by default
print(load_settings().name)  # fact: passed unknown
print(load_settings()["name"])  # fact: passed unknown
print(getattr(load_settings(), "name", None))  # fact: passed unknown or None
print(globals()["name"])  # fact: passed unknown
for key in args.keys:
    print(settings[key])  # fact: passed 'gpt2' or {'size': 2}
    print(getattr(args, key))  # fact: passed unknown
print(Unknown().name)  # fact: passed unknown
print(json.load(open("settings.json"))["name"])  # fact: passed unknown
print(yaml.safe_load(open("settings.yaml"))["name"])  # fact: passed unknown
print(config.name)  # fact: passed unknown
print(os.environ.get(name_of_variable))  # fact: passed some os.environ.get
print(Settings(**outside).name)  # fact: passed 'gpt2' by default
print(Settings(*outside).name)  # fact: passed 'gpt2' by default
print(parser.parse_args(outside).absent)  # fact: passed `args.absent` from outside
print(Settings.from_file("x").name)  # fact: passed unknown
print(args.name["inner"])  # fact: passed `args.name['inner']` from outside
print(settings_of(args).name)  # fact: passed unknown
print(Settings.name_of(outside))  # fact: passed unknown
