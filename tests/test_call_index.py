"""Calls that are found by an index are those that a look through all of them finds, in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import Facts
from llm_lsp.facts.values import Object
from llm_lsp.knowledge.kinds import kind_of
from llm_lsp.source import Source

EXAMPLES = sorted(Path(__file__).resolve().parents[1].joinpath("examples").rglob("*.py"))


@pytest.fixture(params=EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def facts(request: pytest.FixtureRequest) -> Iterator[Facts]:
    path: Path = request.param
    with ExampleWorld({}, {}, {}) as world:
        yield Facts(Source.from_text("example.py", path.read_text(encoding="utf-8")), world)


def test_calls_are_numbered_in_the_order_in_which_they_are_first_made(facts: Facts) -> None:
    ids = [record.id for record in facts.records]
    assert ids == sorted(ids)


def test_calls_are_found_by_name_and_by_kind(facts: Facts) -> None:
    names = {record.name for record in facts.records}
    for name in names:
        assert facts.index.named((name,)) == [record for record in facts.records if record.name == name]
    assert facts.index.named(names) == facts.records
    assert facts.index.named_so(lambda name: "." in name) == [record for record in facts.records if "." in record.name]
    for kind in ("model", "optimizer", "trainer", "pipeline"):
        assert facts.index.making(kind) == [record for record in facts.records if kind_of(record.name) == kind]
    assert facts.index.named(("no_such_name",)) == []


def test_calls_are_found_by_the_object_that_they_are_made_on(facts: Facts) -> None:
    objects = [record.receiver for record in facts.records if isinstance(record.receiver, Object)]
    for one in objects:
        found = [
            record for record in facts.records if isinstance(record.receiver, Object) and record.receiver.id == one.id
        ]
        assert list(facts.index.on(one.id)) == found
    assert not facts.index.on(-1)


def test_each_call_is_under_one_root(facts: Facts) -> None:
    found = [record for root in facts.index.roots for record in facts.index.under(root)]
    assert sorted(record.id for record in found) == [record.id for record in facts.records]
    for root in facts.index.roots:
        assert list(facts.index.under(root)) == [record for record in facts.records if record.frame.root is root]
