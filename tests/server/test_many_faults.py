"""Files with very many faults cost in proportion to them: the steps are counted, so that no clock is needed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

import pytest

from llm_lsp import registry
from llm_lsp.server.capabilities import ClientCapabilities
from llm_lsp.server.checking import Checker
from llm_lsp.server.documents import Documents, TextDocument
from llm_lsp.server.projects import Projects

HEAD = """\
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer
"""
LOADED = """\
tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
{indent}model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased")
{indent}model.eval()
{indent}"""
RUN = 'model(**tokenizer(text, return_tensors="pt")).logits.item()\n'
STATEMENTS = LOADED.format(indent="") + f"print({RUN.strip()})\n"
FUNCTION = "\n\ndef score_{number}(text):\n    " + LOADED.format(indent=" " * 4) + f"return {RUN}"
METHOD = "\n    def score_{number}(self, text):\n        " + LOADED.format(indent=" " * 8) + f"return {RUN}"

SHAPES = {
    "functions": (HEAD, FUNCTION),
    "methods of one class": (HEAD + "\n\nclass Scorer:", METHOD),
    "statements": (HEAD, STATEMENTS),
    "faults of which one kind is suppressed": (HEAD, FUNCTION.replace('cased")', 'cased")  # noqa: LLM101')),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_the_faults_cost_about_four_times_as_much(shape: str, workspace: Path) -> None:
    documents = Documents()
    projects = Projects(documents, registry.entries(), lambda _, message: pytest.fail(message))
    checker = Checker(projects, ClientCapabilities(), lambda crash: pytest.fail(crash.traceback))
    head, part = SHAPES[shape]

    def steps(count: int) -> int:
        text = head + "".join(part.replace("{number}", str(number)) for number in range(count))
        document = TextDocument((workspace / f"{count}.py").as_uri(), 1, "python", text)
        taken = 0

        def count_calls(frame: FrameType, event: str, argument: object) -> None:
            nonlocal taken
            taken += event in {"call", "c_call"}

        sys.setprofile(count_calls)
        try:
            result = checker.check(document, None, lambda: False)
        finally:
            sys.setprofile(None)
        assert sum(map(len, result.reports.values())) >= count
        return taken

    steps(1)  # what is loaded only once
    assert steps(160) < 4.4 * steps(40)
