"""Every rule of the built-in pack is proven by its own examples, and by those of all the others."""

from __future__ import annotations

import pytest

from llm_lsp import registry
from llm_lsp.rule import Rule
from llm_lsp.testing import check_rule, check_silence

RULES = [type(registry.load(entry)) for entry in registry.scan("llm_lsp_rules")]


def by_name(rule: type[Rule]) -> str:
    return registry.entry_of(rule).name


def test_the_pack_holds_rules_each_with_a_code_and_a_name_of_its_own() -> None:
    entries = [registry.entry_of(rule) for rule in RULES]
    assert len({entry.code for entry in entries}) == len({entry.name for entry in entries}) == len(RULES) > 0


def test_a_rule_supersedes_rules_that_there_are() -> None:
    codes = {rule.code for rule in RULES}
    assert {code for rule in RULES for code in rule.supersedes} <= codes


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_a_rule_does_what_its_examples_say(rule: type[Rule]) -> None:
    check_rule(rule)


@pytest.mark.parametrize("rule", RULES, ids=by_name)
def test_all_rules_are_silent_on_what_is_innocent_or_repaired(rule: type[Rule]) -> None:
    check_silence(RULES, [*rule.good, *rule.bad])
