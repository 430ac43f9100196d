"""What is run, and with which interpreter."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from llm_lsp.probe import interpreter
from llm_lsp.probe.interpreter import InterpreterNotFoundError, find_interpreter, interpreter_at
from llm_lsp.probe.sites import target_in_function
from llm_lsp.probe.wording import amount, size

BUILDERS = """\
import transformers
from torch import nn
from transformers import AutoModelForCausalLM, AutoTokenizer


class Net(nn.Module): ...


def load():
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    return AutoModelForCausalLM.from_pretrained("gpt2", dtype="auto")


def dotted():
    return transformers.BertModel.from_pretrained("bert-base-uncased")


async def make(size):
    return Net()


def by_name(name):
    return AutoModelForCausalLM.from_pretrained(name)
"""


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("load", {"checkpoint": "gpt2", "class": "AutoModelForCausalLM", "line": 11}),
        ("dotted", {"checkpoint": "bert-base-uncased", "class": "BertModel", "line": 15}),
        ("make", "Net"),
        ("by_name", None),
        ("none", None),
    ],
)
def test_a_function_is_checked_by_what_it_builds(name: str, target: object) -> None:
    assert target_in_function(BUILDERS, name) == target


def test_a_file_that_can_not_be_parsed_builds_nothing() -> None:
    assert target_in_function("def load(:", "load") is None


# ---------------------------------------------------------------- interpreters


def environment(folder: Path) -> Path:
    """A folder that looks like a virtual environment; its interpreter."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    return python


def test_an_interpreter_is_named_by_itself_its_environment_or_its_packages(tmp_path: Path) -> None:
    python = environment(tmp_path / "env")
    packages = tmp_path / "env" / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    for named in (python, tmp_path / "env", packages):
        assert interpreter_at(named, {}) == python


def test_a_bare_name_is_looked_up_on_the_path(tmp_path: Path) -> None:
    python = environment(tmp_path)
    assert interpreter_at(Path(python.name), {"PATH": str(python.parent)}) == python


def test_what_is_no_interpreter_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(InterpreterNotFoundError, match="--python"):
        interpreter_at(tmp_path / "none", {})


def test_an_active_environment_goes_before_one_beside_the_file(tmp_path: Path) -> None:
    active, beside = environment(tmp_path / "active"), environment(tmp_path / "project" / ".venv")
    folders = [tmp_path / "project"]
    assert find_interpreter(folders, {"VIRTUAL_ENV": str(tmp_path / "active")}) == active
    assert find_interpreter(folders, {"CONDA_PREFIX": str(tmp_path / "gone")}) == beside


def test_else_it_is_our_own_where_torch_is_installed_or_the_first_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_interpreter([tmp_path], {}) == Path(sys.executable)
    monkeypatch.setattr(interpreter, "find_spec", dict[str, object]().get)
    python = environment(tmp_path)
    assert find_interpreter([tmp_path], {"PATH": str(python.parent)}).parent == python.parent
    with pytest.raises(InterpreterNotFoundError):
        find_interpreter([tmp_path / "other"], {"PATH": str(tmp_path / "empty")})


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0"), (999, "999"), (1_000, "1.00 k"), (10_795_776, "10.8 M"), (999_499, "999 k"), (999_999, "1.00 M")],
)
def test_numbers_have_three_digits(count: int, words: str) -> None:
    assert amount(count) == words


def test_bytes_are_counted_by_1024() -> None:
    assert [size(1023), size(1024), size(13.5 * 2**30)] == ["1.00 KiB", "1.00 KiB", "13.5 GiB"]
