"""A program that is written in another way, and means the same, keeps its diagnostics."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from llm_lsp.facts.roots import LONG
from scripts import rewrites
from scripts.linting import Linter
from scripts.rewrites import Original, Rewritten, originals, rewritten
from scripts.rewriting import names, structure


@cache
def linter() -> Linter:
    return Linter()


def is_an_uncalled_method(result: Rewritten) -> bool:
    """A function that nobody calls is started by hand; a method that nobody calls may be one of an interface."""
    called = (f"Holder.{result.what}(", f"holder.{result.what}(")
    return result.code == "LLM501" and result.rewrite.startswith("moved") and not any(c in result.text for c in called)


@pytest.mark.parametrize("original", [pytest.param(original, id=original.name) for original in originals()])
def test_a_program_keeps_its_diagnostics_however_it_is_written(original: Original) -> None:
    lost = [
        f"{result.code} {result.before} -> {result.after}: {result.rewrite}: {result.what}\n{result.text}"
        for result in rewritten(linter(), original)
        if not result.is_kept and not is_an_uncalled_method(result)
    ]
    assert not lost, "\n\n".join(lost)


@pytest.mark.parametrize("original", [pytest.param(original, id=original.name) for original in originals()])
def test_a_program_keeps_its_diagnostics_in_a_module_that_is_too_long_to_run_every_function(original: Original) -> None:
    text = ast.unparse(original.tree)
    long = text + "\n" + "# one more line\n" * (LONG // 10)
    found = [linter().diagnostics(original.path, each) for each in (text, long)]
    # The repaired example has no faults to keep; a rule that fails on both would keep them all.
    assert found[0] or original.name.startswith("examples/")
    assert all(each.code != "LLM002" for each in found[0])
    assert [(each.code, each.location.range) for each in found[1]] == [
        (each.code, each.location.range) for each in found[0]
    ]


def test_a_lost_diagnostic_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def emptied(tree: ast.Module, rows: list[int]) -> Iterator[tuple[str, ast.Module]]:
        yield "everything", ast.parse("pass")

    monkeypatch.setattr(rewrites, "MAKERS", {"emptied": emptied})
    program = ast.parse(
        "from transformers import AutoModel, AutoTokenizer\n"
        "model = AutoModel.from_pretrained('gpt2').eval()\n"
        "tokenizer = AutoTokenizer.from_pretrained('gpt2')\n"
        "for line in open('lines.txt'):\n"
        "    print(model(**tokenizer(line, return_tensors='pt')).last_hidden_state.mean().item())\n"
    )
    results = list(rewritten(linter(), Original("five lines", tmp_path / "program.py", program)))
    assert [(result.code, result.before, result.is_kept) for result in results] == [("LLM301", 1, False)]


PROGRAM = """\
import torch
from transformers import AutoModel

def score(model, ids):
    total = 0.0
    for row in ids:
        value = model(row)
        total += value.mean().item()
    return total

model = AutoModel.from_pretrained('gpt2').to('cuda')
print(score(model, [torch.zeros(1)]))
"""


def written(makes: Iterator[tuple[str, ast.Module]]) -> dict[str, str]:
    return {what: ast.unparse(tree) for what, tree in makes}


def test_an_extracted_statement_takes_what_it_reads_and_returns_what_is_read_later() -> None:
    made = written(structure.extracted(ast.parse(PROGRAM), [7]))
    assert "def extracted(model, row):\n    value = model(row)\n    return value" in made["line 7, assign"]
    assert "value = extracted(model, row)" in made["line 7, assign"]
    assert "def extracted(ids, model, total):" in made["line 6, for"]
    assert "    total = extracted(ids, model, total)\n    return total" in made["line 6, for"]


def test_a_renamed_local_leaves_the_same_name_of_another_scope() -> None:
    made = written(names.renamed_locals(ast.parse(PROGRAM)))
    assert "def score(model_2, ids):" in made["model in score"]
    assert "print(score(model, [torch.zeros(1)]))" in made["model in score"]


def test_a_function_in_a_class_is_called_through_the_class() -> None:
    made = written(structure.moved_into_class(ast.parse(PROGRAM)))
    assert "class Holder:\n\n    @staticmethod\n    def score(model, ids):" in made["score"]
    assert "print(Holder.score(model, [torch.zeros(1)]))" in made["score"]


def test_a_script_under_a_guard_keeps_its_imports_outside() -> None:
    made = written(structure.guarded(ast.parse(PROGRAM)))
    assert "def main():\n    model = AutoModel.from_pretrained('gpt2').to('cuda')" in made["the script"]
    assert made["the script"].startswith("import torch")


def test_an_import_by_another_name_reaches_every_use() -> None:
    made = written(names.import_aliases(ast.parse(PROGRAM)))
    assert "import torch as torch_2" in made["torch"]
    assert "torch_2.zeros(1)" in made["torch"]
    assert "from transformers import AutoModel as AutoModel_2" in made["AutoModel"]
    whole = written(names.module_imports(ast.parse(PROGRAM)))
    assert "model = transformers.AutoModel.from_pretrained('gpt2')" in whole["transformers"]


def test_arguments_are_passed_by_name() -> None:
    made = written(names.keyword_arguments(ast.parse(PROGRAM)))
    assert "from_pretrained(pretrained_model_name_or_path='gpt2').to(device='cuda')" in made["2 calls"]
