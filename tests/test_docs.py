"""What the documentation shows is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts import docs

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.md")])

_LINK = re.compile(r"\[[^\]]*\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def test_the_generated_pages_are_current() -> None:
    assert docs.stale(docs.pages()) == [], "run `make docs`"


def test_a_page_that_differs_is_called_stale() -> None:
    readme = ROOT / "README.md"
    assert docs.stale(docs.pages() | {readme: "something else\n"}) == ["README.md"]


def test_the_readme_shows_the_output_of_a_real_run() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = text.partition("<!-- output of `llm-lint check")[2].partition("<!-- end of output -->")[0]
    assert "LLM101 tokenizer-of-another-model" in shown
    assert "Found 1 problem" in shown


def test_an_output_that_was_changed_by_hand_is_replaced() -> None:
    text = "before\n<!-- output of `llm-lint --version` -->\nanything\n<!-- end of output -->\nafter\n"
    again = docs.with_outputs(text)
    assert "anything" not in again
    assert "llm-lint 0" in again
    assert again.startswith("before\n")
    assert again.endswith("<!-- end of output -->\nafter\n")
    assert docs.with_outputs(again) == again


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_inside_the_repository_lead_somewhere(page: Path) -> None:
    text = _CODE.sub("", page.read_text(encoding="utf-8"))
    assert [link for link in _LINK.findall(text) if not (page.parent / link).exists()] == []
