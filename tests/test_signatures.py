"""The shipped signatures: what they say, that they are what the wheels give, and that nobody pays who does not ask."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import UNKNOWN, YES, Call, Facts
from llm_lsp.knowledge.signatures import Signature, signature_of
from llm_lsp.source import Source
from scripts import build_signatures
from scripts.signatures.callables import Callables, Entry, merged
from scripts.signatures.namespaces import Package

ROOT = Path(__file__).resolve().parents[1]


def position(name: str, parameter: str) -> int | None:
    signature = signature_of(name)
    assert signature is not None, name
    return signature.position(parameter)


# ---------------------------------------------------------------- the tables


@pytest.mark.parametrize("distribution", ["accelerate", "fastapi"])
def test_a_committed_table_is_what_the_wheels_give(distribution: str, tmp_path: Path) -> None:
    library = next(library for library in build_signatures.LIBRARIES if library.distribution == distribution)
    assert build_signatures.table_of(library, tmp_path) == build_signatures.committed(library)


def test_every_table_is_of_the_releases_that_the_script_names() -> None:
    heads = [build_signatures.committed(library).partition("\n")[0] for library in build_signatures.LIBRARIES]
    assert heads == [f"{each.distribution} {' '.join(each.releases)}" for each in build_signatures.LIBRARIES]


def test_importing_the_signatures_reads_no_table() -> None:
    program = (
        "from llm_lsp.knowledge import signatures\n"
        "assert signatures._table.cache_info().currsize == 0, 'read at import'\n"
        "assert signatures.signature_of('torch.load') is not None\n"
        "assert signatures._table.cache_info().currsize == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "parameter", "expected"),
    [
        ("torch.nn.utils.clip_grad_norm_", "max_norm", 1),
        ("torch.load", "map_location", 1),
        ("torch.load", "weights_only", None),  # by keyword only
        ("torch.cat", "tensors", 0),  # written in C++
        ("torch.utils.data.DataLoader", "shuffle", 2),
        ("torch.cuda.amp.GradScaler", "enabled", 4),
        ("torch.amp.GradScaler", "enabled", 5),
        ("torch.nn.Linear", "bias", 2),
        ("torch.nn.modules.linear.Linear", "bias", 2),
        ("torch.nn.Linear.()", "input", 0),  # an instance calls its `forward`
        ("torch.optim.AdamW", "lr", 1),
        ("torch.optim.AdamW.zero_grad", "set_to_none", 0),  # inherited
        ("transformers.Trainer", "train_dataset", 3),
        ("transformers.trainer.Trainer", "train_dataset", 3),
        ("transformers.AutoTokenizer.()", "truncation", 6),
        ("transformers.DataCollatorForLanguageModeling", "mlm_probability", None),  # releases differ
        ("transformers.AutoTokenizer.()", "text_pair", 1),
        ("transformers.AutoModelForCausalLM.from_pretrained", "pretrained_model_name_or_path", 0),
        ("transformers.AutoModelForCausalLM.resize_token_embeddings", "new_num_tokens", 0),
        ("transformers.BertForMaskedLM.()", "attention_mask", 1),
        ("transformers.GPT2LMHeadModel.()", "attention_mask", None),  # 2 in some releases, 3 in others
        ("transformers.BertConfig", "hidden_size", None),
        ("peft.LoraConfig", "task_type", None),
        ("datasets.Dataset.map", "batched", 4),
        ("lightning.seed_everything", "seed", 0),
        ("sentence_transformers.SentenceTransformer", "model_name_or_path", 0),
        ("accelerate.Accelerator.clip_grad_norm_", "max_norm", 1),
        ("fastapi.Depends", "dependency", 0),
    ],
)
def test_where_a_parameter_stands(name: str, parameter: str, expected: int | None) -> None:
    assert position(name, parameter) == expected


@pytest.mark.parametrize(
    "name", ["", "torch", "torch.nothing", "nobody.knows", "transformers.AutoModelForCausalLM.()", "torch.load\t", ".x"]
)
def test_what_is_in_no_table_is_not_guessed(name: str) -> None:
    assert signature_of(name) is None


@pytest.mark.parametrize(
    ("alternatives", "parameter", "expected"),
    [
        ([("a", "b")], "b", 1),
        ([("a", "b"), ("a", "b", "c")], "b", 1),
        ([("a", "b"), ("a",)], "b", 1),
        ([("a", "b"), ("b", "a")], "b", None),
        ([("a", "b"), ("a", "c", "b")], "b", None),
        ([("a", "b"), ("a", "c")], "b", None),
        ([("a", "b"), ("a", "*", "b")], "b", 1),
        ([("a", "b"), ("a", "*rest", "b")], "b", None),
        ([("a", "*", "b", "**")], "b", None),
        ([()], "b", None),
    ],
)
def test_a_position_holds_in_every_alternative(
    alternatives: list[tuple[str, ...]], parameter: str, expected: int | None
) -> None:
    assert Signature(tuple(alternatives)).position(parameter) == expected


@pytest.mark.parametrize(
    ("name", "keyword", "swallows", "takes"),
    [
        ("torch.optim.AdamW", "momentum", False, False),
        ("torch.optim.AdamW", "fused", False, True),
        ("transformers.AutoTokenizer.from_pretrained", "anything", True, True),
        ("torch.no_grad", "anything", False, False),
    ],
)
def test_which_keywords_are_taken(name: str, keyword: str, swallows: bool, takes: bool) -> None:
    signature = signature_of(name)
    assert signature is not None
    assert (signature.swallows, signature.takes(keyword)) == (swallows, takes)


# ---------------------------------------------------------------- what is read from a wheel


def lines(tmp_path: Path, **files: str) -> list[str]:
    wheel = tmp_path / "lib-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"lib/{name.replace('__slash__', '/')}.py", text)
    return list(merged({"1": Callables(Package(wheel, "lib")).entries()}))


def test_functions_classes_and_methods_are_read(tmp_path: Path) -> None:
    text = (
        "def f(a, /, b=1, *more, c, **rest): ...\n"
        "def _hidden(a): ...\n"
        "class Base:\n    def __init__(self, x): ...\n    def go(self, y): ...\n"
        "class Derived(Base):\n    def go(self, y): ...\n    def stay(self): ...\n"
        "    @property\n    def size(self): ...\n    @staticmethod\n    def make(z): ...\n"
    )
    assert lines(tmp_path, __init__=text) == [
        "lib.Base\t()\t__init__=x\tgo=y",
        "lib.Derived\t(lib.Base)\tmake=z\tstay=",
        "lib.f\t=a,b,*more,c,**",
    ]


def test_a_name_is_the_shortest_that_programs_can_import(tmp_path: Path) -> None:
    assert lines(tmp_path, __init__="from .inner import f as g", inner="def f(a): ...\nimport os\n") == [
        "lib.g\t=a",
        "lib.inner.f\t=lib.g",
    ]


def test_lazy_exports_are_read_where_type_checkers_read_them(tmp_path: Path) -> None:
    init = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ._inner import *\n"
    assert lines(tmp_path, __init__=init, _inner="__all__ = ['f']\ndef f(a): ...\ndef g(b): ...\n") == ["lib.f\t=a"]


def test_a_dataclass_takes_its_fields_those_of_its_bases_first(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass, field\nfrom typing import ClassVar\n"
        "@dataclass\nclass A:\n    a: int\n    kind: ClassVar[str] = ''\n    made: int = field(init=False)\n"
        "@dataclass(kw_only=True)\nclass B(A):\n    b: int = 0\n"
    )
    assert lines(tmp_path, __init__=text) == ["lib.A\t()\t__init__=a", "lib.B\t(lib.A)\t__init__=a,*,b"]


def test_overloads_and_releases_are_alternatives(tmp_path: Path) -> None:
    text = "from typing import overload\n@overload\ndef f(a, b): ...\n@overload\ndef f(a): ...\n"
    assert lines(tmp_path, __init__=text) == ["lib.f\t=a,b|a"]
    assert lines(tmp_path, __init__=text + "def f(a, b=None): ...\n") == ["lib.f\t=a,b"]


def test_a_name_that_some_releases_lack_says_which(tmp_path: Path) -> None:
    def release(text: str) -> dict[str, Entry]:
        wheel = tmp_path / "lib-1-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("lib/__init__.py", text)
        return Callables(Package(wheel, "lib")).entries()

    old, middle, new = (
        release("def a(): ...\ndef b(): ...\n"),
        release("def b(): ...\ndef c(): ...\n"),
        release("def c(): ...\n"),
    )
    found = list(merged({"3": new, "2": middle, "1": old}))
    assert found == ["lib.a\t=\t<2", "lib.b\t=\t<3", "lib.c\t=\t>1"]
    assert list(merged({"3": new, "2": middle, "1": old}, {"b"}))[1] == "lib.b\t="


@pytest.mark.parametrize("text", ["from lib import x\nx = x\n", "class A(A): ...\n", "def f(:\n", "from .. import y\n"])
def test_odd_packages_end(tmp_path: Path, text: str) -> None:
    assert len(lines(tmp_path, __init__=text)) <= 1


# ---------------------------------------------------------------- what a rule finds


def last_call(text: str) -> Call:
    source = Source.from_text("a.py", text)
    calls = list(Facts(source, ExampleWorld({}, {}, {})).every_call())
    return calls[-1]


@pytest.mark.parametrize(
    ("text", "parameter", "written"),
    [
        ("import torch\ntorch.load('x', 'cpu')", "map_location", "'cpu'"),
        ("import torch\ntorch.load('x', map_location='cpu')", "map_location", "'cpu'"),
        ("import torch\ntorch.load(f='x')", "map_location", None),
        ("import torch\ntorch.load(*paths, 'cpu')", "map_location", None),
        ("import torch as t\nargs = ('x', 'cpu')\nt.load(*args)", "map_location", None),  # it has no place of its own
        (
            "from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('gpt2')\nt('a', 'b')",
            "text_pair",
            "'b'",
        ),
        (
            "from transformers import AutoModel\nm = AutoModel.from_pretrained('gpt2')\nm.resize_token_embeddings(9)",
            "new_num_tokens",
            "9",
        ),
        ("from nobody import load\nload('x', 'cpu')", "map_location", None),
    ],
)
def test_an_argument_is_found_however_it_is_passed(text: str, parameter: str, written: str | None) -> None:
    found = last_call(text).argument(parameter)
    assert (found.value_place.text if found is not None and found.value_place is not None else None) == written


def test_what_is_passed_by_position_is_passed() -> None:
    assert last_call("import torch\ntorch.load('x', 'cpu')").passes("map_location") is YES
    assert last_call("import torch\ntorch.load(*x, 'cpu')").passes("map_location") is UNKNOWN
