"""The shipped table of auto classes: which types of models they take, and what those run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from llm_lsp.knowledge.auto_classes import auto_classes, type_of_class

ROOT = Path(__file__).resolve().parents[1]


def takes(auto_class: str, model_type: str) -> bool | None:
    known = auto_classes(model_type)
    assert known is not None
    return known.takes(auto_class)


def test_the_committed_table_is_what_its_sources_give() -> None:
    script = ROOT / "scripts" / "build_auto_classes.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_the_auto_classes_reads_no_table() -> None:
    program = (
        "from llm_lsp.knowledge import auto_classes\n"
        "assert auto_classes.table.cache_info().currsize == 0, 'read at import'\n"
        "assert auto_classes.auto_classes('bert') is not None\n"
        "assert auto_classes.table.cache_info().currsize == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("auto_class", "model_type", "expected"),
    [
        ("AutoModelForSeq2SeqLM", "t5", True),
        ("AutoModelForSeq2SeqLM", "distilbert", False),
        ("AutoModelForCausalLM", "t5", False),
        ("AutoModelForCausalLM", "bert", True),
        # Only the older release has the class, and only the newer one the type.
        ("AutoModelForVision2Seq", "llava", True),
        ("AutoModelForVision2Seq", "bert", False),
        ("AutoModelForVision2Seq", "afmoe", None),
        # No class of transformers, or one that takes every type.
        ("AutoModelForPoetry", "bert", None),
        ("AutoModel", "bert", None),
        ("BertForMaskedLM", "bert", None),
    ],
)
def test_an_auto_class_takes_a_type_or_does_not(auto_class: str, model_type: str, expected: bool | None) -> None:
    assert takes(auto_class, model_type) is expected


@pytest.mark.parametrize("model_type", ["", "never-heard-of", "bert\t", "ber", "\n"])
def test_a_type_that_is_not_in_the_table_is_not_guessed(model_type: str) -> None:
    assert auto_classes(model_type) is None


def test_the_classes_that_an_auto_class_gives_are_known() -> None:
    gpt2, deit = auto_classes("gpt2"), auto_classes("deit")
    assert gpt2 is not None
    assert deit is not None
    assert gpt2.architectures("AutoModelForCausalLM") == {"GPT2LMHeadModel"}
    assert len(deit.architectures("AutoModelForImageClassification")) == 2
    assert "AutoModelForCausalLM" in gpt2.auto_classes_of("GPT2LMHeadModel")
    assert gpt2.auto_classes_of("GPT2Something") == ()


@pytest.mark.parametrize(
    ("model_type", "expected"),
    [("llama", True), ("t5", True), ("gpt_oss", False), ("deberta", False), ("falcon", None)],
)
def test_which_attention_a_type_runs_is_known_or_not(model_type: str, expected: bool | None) -> None:
    known = auto_classes(model_type)
    assert known is not None
    assert known.runs_sdpa is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("BertForMaskedLM", "bert"),
        ("BertModel", "bert"),
        ("GPT2LMHeadModel", "gpt2"),
        ("DistilBertForSequenceClassification", "distilbert"),
        ("BertGenerationDecoder", None),
        ("Bert", None),
        ("AutoModelForCausalLM", None),
        ("Something", None),
    ],
)
def test_a_class_says_which_type_it_is_for(name: str, expected: str | None) -> None:
    assert type_of_class(name) == expected
