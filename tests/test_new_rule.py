"""A rule that was just started has a code of its own, can be loaded, and fails its proof until it is written."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from llm_lsp.rule import Rule
from llm_lsp.testing import check_rule
from scripts.new_rule import RefusedError, create, next_free

TAKEN = ("LLM301", "gradients-in-inference", "LLM303", "half-on-cpu", "LLM501")


def load(path: Path, monkeypatch: pytest.MonkeyPatch) -> type[Rule]:
    specification = importlib.util.spec_from_file_location(f"llm_lsp_rules.memory.{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, specification.name, module)
    specification.loader.exec_module(module)
    (rule,) = (
        value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__
    )
    assert issubclass(rule, Rule)
    return rule


def test_a_new_rule_gets_the_next_code_of_its_category_and_a_class_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = create(tmp_path, "memory", "cache-on-module", TAKEN)
    assert path == tmp_path / "memory" / "cache_on_module.py"
    assert (tmp_path / "memory" / "__init__.py").exists()
    rule = load(path, monkeypatch)
    assert (rule.__name__, rule.code) == ("CacheOnModule", "LLM304")


def test_a_new_rule_fails_its_proof_because_it_reports_nothing_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = load(create(tmp_path, "memory", "cache-on-module", TAKEN), monkeypatch)
    with pytest.raises(AssertionError, match="words of the message"):
        check_rule(rule)


def test_a_rule_that_was_only_started_keeps_its_file_and_its_code(tmp_path: Path) -> None:
    path = create(tmp_path, "memory", "cache-on-module", TAKEN)
    path.write_text(path.read_text(encoding="utf-8").replace("Say what", "Written since, what"), encoding="utf-8")
    for category in ("memory", "precision"):
        with pytest.raises(RefusedError, match="`cache-on-module` is taken"):
            create(tmp_path, category, "cache-on-module", TAKEN)
    assert "Written since" in path.read_text(encoding="utf-8")
    assert 'code = "LLM305"' in create(tmp_path, "memory", "graph-on-module", TAKEN).read_text(encoding="utf-8")


def test_a_new_rule_may_have_the_name_of_its_module(tmp_path: Path) -> None:
    assert create(tmp_path, "data", "rows_read_twice", TAKEN).stem == "rows_read_twice"


@pytest.mark.parametrize(
    ("category", "code"), [("memory", "LLM304"), ("reproducibility", "LLM502"), ("serving", "LLM901")]
)
def test_the_next_code_follows_the_highest_one_of_its_century(category: str, code: str) -> None:
    assert next_free(category, TAKEN) == code


@pytest.mark.parametrize(
    ("category", "name", "code", "message"),
    [
        ("style", "cache-on-module", None, "no category `style`"),
        ("memory", "Cache", None, "no name for a rule"),
        ("memory", "half-on-cpu", None, "`half-on-cpu` is taken"),
        ("memory", "cache-on-module", "LLM301", "`LLM301` is taken"),
        ("memory", "cache-on-module", "LLM401", "LLM300 to LLM399"),
    ],
)
def test_what_can_not_be_a_rule_is_refused_and_nothing_is_written(
    tmp_path: Path, category: str, name: str, code: str | None, message: str
) -> None:
    with pytest.raises(RefusedError, match=message):
        create(tmp_path, category, name, TAKEN, code)
    assert list(tmp_path.iterdir()) == []
