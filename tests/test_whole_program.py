"""What only the scripts know that lead to a module: one file reports it, whichever is asked for."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_lsp.diagnostic import Diagnostic
from llm_lsp.linter import lint
from llm_lsp.outlines import Outline
from llm_lsp.project import Project
from llm_lsp.registry import enabled, entries
from llm_lsp.snippets import Snippets
from llm_lsp.whole_program import Runs

EVALUATION = """\
def accuracy(model, batches):
    return [model(**batch).logits.argmax(-1) for batch in batches]
"""
ASKS = """\
import torch
from evaluation import accuracy
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
batches = torch.load("batches.pt", weights_only=True)
print(accuracy(model.eval(), batches))
"""
GUARDS = ASKS.replace("print(", "with torch.no_grad():\n    print(")
TRAINS = """\
import torch
from transformers import AutoModelForSequenceClassification
from steps import forward

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
optimizer = torch.optim.AdamW(model.parameters())
for batch in torch.load("batches.pt", weights_only=True):
    forward(model, batch).loss.backward()
    optimizer.step()
"""
INFERS = """\
import torch
from transformers import AutoModelForSequenceClassification
from steps import forward

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased").eval()
for batch in torch.load("batches.pt", weights_only=True):
    print(forward(model, batch).logits.argmax(-1))
"""
SAVES = """

def save(model, path):
    torch.save(model.state_dict(), path)
"""
"""A word that gives a reason to look for gradients in the module, and nothing that says what `model` is elsewhere."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("setup.cfg").touch()


def write(**files: str) -> None:
    for name, text in files.items():
        Path(f"{name}.py").write_text(text, encoding="utf-8")


def linted(*names: str, runs: Runs | None = None) -> Iterator[Diagnostic]:
    yield from linted_in(Project([f"{name}.py" for name in names] or ["."], isolated=True, cached=False), runs)


def linted_in(project: Project, runs: Runs | None = None) -> Iterator[Diagnostic]:
    rules = [rule for rule in entries() if rule.code == "LLM301"]
    for file in project.files():
        source, world = project.source(file), project.world_for(file)
        yield from lint(source, world, file.settings, enabled(rules, file.settings, file.path), runs=runs)


def places(*names: str, runs: Runs | None = None) -> list[tuple[str, int]]:
    return [(found.location.path, found.location.range.start.row) for found in linted(*names, runs=runs)]


def test_a_fault_that_every_script_meets_stands_in_the_module() -> None:
    write(evaluation=EVALUATION + SAVES, one=ASKS, two=ASKS)
    (found,) = linted()
    assert (found.location.path, found.location.range.start.row) == ("evaluation.py", 2)
    assert {(related.location.path, related.message) for related in found.related} == {
        ("one.py", "called from here"),
        ("two.py", "called from here"),
    }
    assert found.fix is None
    assert places("evaluation") == [("evaluation.py", 2)]
    assert places("one") == places("two") == []


def test_a_fault_that_one_of_two_scripts_meets_stands_in_that_script() -> None:
    write(evaluation=EVALUATION + SAVES, one=ASKS, two=GUARDS)
    (found,) = linted()
    assert (found.location.path, found.location.range.start.row) == ("one.py", 7)
    assert ("evaluation.py", 2) in {(each.location.path, each.location.range.start.row) for each in found.related}
    assert places("one") == [("one.py", 7)]
    assert places("evaluation") == places("two") == []


def test_a_step_that_training_and_inference_share_is_at_fault_in_the_inference() -> None:
    write(steps="def forward(model, batch):\n    return model(**batch)\n", train=TRAINS, infer=INFERS)
    assert places() == places("infer") == [("infer.py", 7)]


def test_a_module_without_a_word_that_triggers_leaves_its_fault_to_the_script() -> None:
    write(evaluation=EVALUATION, one=ASKS)
    assert places() == places("one") == [("one.py", 7)]


def test_the_way_may_lead_through_other_modules() -> None:
    Path("tools").mkdir()
    evaluation = EVALUATION + SAVES
    Path("tools/__init__.py").write_text("from .evaluation import accuracy\n", encoding="utf-8")
    Path("tools/evaluation.py").write_text(evaluation, encoding="utf-8")
    write(report="import tools\n\ndef report(model, batches):\n    print(tools.accuracy(model, batches))\n")
    write(
        one=ASKS.replace("from evaluation import accuracy", "from report import report").replace("accuracy", "report")
    )
    assert places() == [("tools/evaluation.py", 2)]


def test_where_more_scripts_lead_than_are_worth_running_each_speaks_for_itself() -> None:
    names = [f"script_{number}" for number in range(7)]
    write(evaluation=EVALUATION + SAVES, **dict.fromkeys(names, ASKS))
    assert places() == [(f"{name}.py", 7) for name in names]
    assert places("evaluation") == []


def test_a_module_is_searched_for_triggers_once_however_many_files_enter_it(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []

    class Counted(Snippets):
        def __init__(self, text: str) -> None:
            searched.append(text)
            super().__init__(text)

    monkeypatch.setattr("llm_lsp.source.Snippets", Counted)
    write(evaluation=EVALUATION, one=ASKS, two=ASKS + "\n", three=ASKS + "\n\n")
    assert places() == [("one.py", 7), ("three.py", 7), ("two.py", 7)]
    assert len(searched) == len(set(searched)) == 4


def test_tests_are_no_scripts() -> None:
    write(evaluation=EVALUATION + SAVES, test_accuracy=ASKS)
    assert places("evaluation") == []


@pytest.mark.parametrize("order", [("evaluation", "one", "two"), ("two", "one", "evaluation")])
def test_kept_runs_change_nothing_until_a_file_changes(order: tuple[str, ...]) -> None:
    evaluation = EVALUATION + SAVES
    write(evaluation=evaluation, one=ASKS, two=ASKS)
    runs = Runs()
    for _ in range(2):
        assert sorted(place for name in order for place in places(name, runs=runs)) == [("evaluation.py", 2)]
    write(two=GUARDS)
    assert sorted(place for name in order for place in places(name, runs=runs)) == [("one.py", 7)]
    write(evaluation=evaluation.replace("def", "import torch\n\n@torch.no_grad()\ndef"))
    assert [place for name in order for place in places(name, runs=runs)] == []
    runs.close()


def test_runs_of_other_files_leave_no_garbage_behind() -> None:
    write(evaluation=EVALUATION + SAVES, one=ASKS, two=GUARDS)
    project = Project(isolated=True, cached=False)
    list(linted_in(project))
    gc.collect()
    gc.disable()
    try:
        list(linted_in(project))
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_what_a_module_is_seen_to_do_wrong_by_itself_stands_there_whoever_else_meets_it() -> None:
    write(evaluation=EVALUATION.replace("    return", "    model.eval()\n    return"), one=ASKS, two=GUARDS)
    assert places() == places("evaluation") == [("evaluation.py", 3)]
    assert places("one") == places("two") == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n\nif __name__ == '__main__':\n    main()\n",
        "main()\n",
        "trainer.train()\n",
        "for batch in batches:\n    step(batch)\n",
        "with torch.no_grad():\n    evaluate()\n",
        "tokenizer, model = load()\n",
    ],
)
def test_what_runs_by_itself_is_a_script(text: str) -> None:
    outline = Outline(text)
    assert outline.is_guarded or outline.runs


@pytest.mark.parametrize(
    "text",
    [
        "def main():\n    train()\n",
        "logger = logging.getLogger(__name__)\nlogger.setLevel(10)\n",
        "T = TypeVar('T')\nNAMES = ['a']\n__all__ = ['b']\n",
        "class Model:\n    def run(self):\n        step()\n",
        "import torch\nfrom torch import nn\nassert torch.cuda.is_available()\n",
    ],
)
def test_what_only_defines_is_none(text: str) -> None:
    outline = Outline(text)
    assert not outline.is_guarded
    assert not outline.runs


@pytest.mark.parametrize(
    ("statement", "leads"),
    [
        ("import engine", True),
        ("from lib import engine", True),
        ("from .engine import (\n    load,\n    score as s,\n)", True),
        ("import lib.engine as e", True),
        ("from engine import other", False),
        ("from torch.engine import score", False),
        ("from lib import score", False),
    ],
)
def test_an_import_leads_to_a_module_or_to_what_it_binds(statement: str, *, leads: bool) -> None:
    assert Outline(f"{statement}\n").leads_to("engine", frozenset({"load", "score"})) is leads


def test_what_is_typed_in_a_function_leaves_the_outline_as_it_is() -> None:
    text = "import engine\n\ndef run():\n    engine.start()\n"
    assert Outline(text) == Outline(f"{text}    engine.sto")
    assert Outline(text) != Outline(text.replace("import engine", "import motor"))
    assert Outline(text) != Outline(f"{text}\nrun()\n")
    assert Outline(text) != Outline(text.replace("def run", "def go"))
