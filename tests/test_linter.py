from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar, cast

import pytest

from llm_lsp import linter
from llm_lsp.builtin_codes import BUILTIN_CODES
from llm_lsp.diagnostic import Applicability, Diagnostic, Position, Range, Severity
from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import Facts, Place
from llm_lsp.linter import Crash
from llm_lsp.registry import RuleEntry
from llm_lsp.rule import InsertBefore, Replace, Report, Rule
from llm_lsp.settings import Settings
from llm_lsp.source import Source
from llm_lsp.world import World


class Stopped(Exception):  # noqa: N818
    """Stands for `facts.Stopped`."""


class NoWays:
    """Stands for `Ways`: no module leads to another."""

    modules: ClassVar[list[Source]] = []
    entered: ClassVar[list[Source]] = []
    may_be_led_to = False


class WordFacts:
    """Stands for `Facts`: knows where words are."""

    ways = NoWays()
    made: ClassVar[list[str]] = []
    closed: ClassVar[list[str]] = []

    def __init__(self, source: Source, _world: World, stop: Callable[[], bool]) -> None:
        self.made.append(source.path)
        if stop():
            raise Stopped
        self.source = source

    def close(self) -> None:
        self.closed.append(self.source.path)


def places(facts: Facts, word: str) -> Iterator[Place]:
    source = cast("WordFacts", facts).source
    for row, line in enumerate(source.lines, start=1):
        column = line.find(word) + 1
        if column:
            yield Place(source.path, Range(Position(row, column), Position(row, column + len(word))), word)


class OneOnly(Rule):
    """A rule of one word."""

    code = "LLM901"
    severity = Severity.ERROR
    triggers = ("one",)

    def check(self, facts: Facts) -> Iterator[Report]:
        for place in places(facts, "one"):
            yield self.report(place, "there is `one`", help="write two", fix=[Replace(place.range, "two")], safe=True)


class OneToo(Rule):
    """Another rule of the same word."""

    code = "LLM902"
    severity = Severity.WARNING
    triggers = ("one",)

    def check(self, facts: Facts) -> Iterator[Report]:
        for place in places(facts, "one"):
            yield self.report(place, "`one` again")


class Raising(Rule):
    """A rule that finds something and then raises."""

    code = "LLM903"
    severity = Severity.ERROR
    triggers = ("one",)

    def check(self, facts: Facts) -> Iterator[Report]:
        yield self.report(next(places(facts, "one")), "half a finding")
        raise ZeroDivisionError("the rule's own fault")


def entry(rule: type[Rule], name: str, supersedes: tuple[str, ...] = ()) -> RuleEntry:
    return RuleEntry(
        rule.code,
        name,
        "some",
        rule.severity,
        True,  # noqa: FBT003
        rule.triggers,
        supersedes,
        "none",
        "tests",
        rule.__name__,
    )


RULES = {rule.code: rule for rule in (OneOnly, OneToo, Raising)}
ONE = entry(OneOnly, "one-only")
TOO = entry(OneToo, "one-too")
RAISING = entry(Raising, "raising")
BUILTIN = tuple(
    RuleEntry(own.code, own.name, "llm-lint", own.severity, True, (), (), own.fix, "", "")  # noqa: FBT003
    for own in BUILTIN_CODES
)


@pytest.fixture(autouse=True)
def facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm_lsp.facts.Facts", WordFacts)
    monkeypatch.setattr("llm_lsp.facts.Stopped", Stopped, raising=False)
    monkeypatch.setattr(WordFacts, "made", [])
    monkeypatch.setattr(WordFacts, "closed", [])


def lint(
    text: str | Source,
    *rules: RuleEntry,
    settings: Settings | None = None,
    stop: Callable[[], bool] = linter.never,
    on_crash: Callable[[Crash], None] | None = None,
    rule_of: Mapping[str, type[Rule]] = RULES,
) -> list[Diagnostic]:
    source = text if isinstance(text, Source) else Source.from_text("train.py", text)
    return linter.lint(
        source,
        ExampleWorld({}, {}, {}),
        settings or Settings(),
        [*rules, *BUILTIN],
        stop,
        load=lambda wanted: rule_of[wanted.code](),
        on_crash=on_crash,
    )


def told(diagnostics: list[Diagnostic]) -> list[tuple[int, str]]:
    return [(found.location.range.start.row, found.code) for found in diagnostics]


def notebook(*cells: str) -> Source:
    listed: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell} for cell in cells
    ]
    listed.insert(1, {"cell_type": "markdown", "metadata": {}, "source": "between"})
    data = json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})
    return Source.from_bytes("train.ipynb", data.encode())


# ---------------------------------------------------------------- rules


def test_diagnostics_come_in_the_order_of_the_text_then_of_the_codes() -> None:
    assert told(lint("x = 1\none = 1\none = 2\n", TOO, ONE)) == [
        (2, "LLM901"),
        (2, "LLM902"),
        (3, "LLM901"),
        (3, "LLM902"),
    ]


def test_a_diagnostic_says_what_its_report_said() -> None:
    (found,) = lint("one = 1\n", ONE)
    assert (found.code, found.name, found.severity) == ("LLM901", "one-only", Severity.ERROR)
    assert (found.message, found.help) == ("there is `one`", "write two")
    assert found.fix is not None
    assert found.fix.applicability is Applicability.SAFE
    assert [edit.content for edit in found.fix.edits] == ["two"]


def test_a_file_without_a_trigger_is_not_analysed() -> None:
    assert lint("two = 1\n", ONE, TOO) == []
    assert WordFacts.made == []


@pytest.mark.parametrize("text", ["x.eval(\n)\n", "x.eval ()\n", "x . eval ( )\n"])
def test_blanks_in_a_trigger_hide_no_fault(text: str) -> None:
    spread = ONE._replace(triggers=("eval()",))
    assert told(lint(text.replace("x", "one"), spread))[0] == (1, "LLM901")
    assert told(lint("one.evaluate()\none.eval(one)\n", spread)) == []


def test_all_triggered_rules_share_one_analysis() -> None:
    lint("one = 1\n", ONE, TOO, RAISING)
    assert WordFacts.made == WordFacts.closed == ["train.py"]


def test_a_rule_without_triggers_is_asked_about_every_file() -> None:
    assert told(lint("x = one\n", ONE._replace(triggers=()))) == [(1, "LLM901")]


def test_a_rule_that_raises_does_not_silence_the_others() -> None:
    assert told(lint("x = 1\none = 1\n", RAISING, ONE)) == [(1, "LLM002"), (2, "LLM901")]


def test_a_rule_that_raises_is_named_once_and_its_traceback_is_for_who_asks() -> None:
    crashes: list[Crash] = []
    (found,) = lint("x = 1\none = 1\n", RAISING, on_crash=crashes.append)
    assert found.message == "rule `raising` (LLM903) failed on this file: ZeroDivisionError: the rule's own fault"
    assert found.location.range == Range(Position(1, 1), Position(1, 6))
    assert [(crash.path, crash.code) for crash in crashes] == [("train.py", "LLM903")]
    assert 'raise ZeroDivisionError("the rule\'s own fault")' in crashes[0].traceback


def test_a_rule_that_cant_be_loaded_is_a_rule_that_raises() -> None:
    assert told(lint("x\none = 1\n", ONE, TOO, rule_of={"LLM902": OneToo})) == [(1, "LLM002"), (2, "LLM902")]


def test_an_analysis_that_raises_is_one_diagnostic(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise LookupError("lost")

    monkeypatch.setattr("llm_lsp.facts.Facts", fail)
    (found,) = lint("one = 1\n", ONE, TOO)
    assert (found.code, found.message) == ("LLM002", "the analysis failed on this file: LookupError: lost")


def test_code_too_deep_for_the_analysis_is_no_bug_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RecursionError("maximum recursion depth exceeded")

    monkeypatch.setattr("llm_lsp.facts.Facts", fail)
    (found,) = lint("one = 1\n", ONE, TOO)
    assert found.code == "LLM002"
    assert found.message == "the code is nested too deeply to be analysed; split the expression or block"


def test_who_wants_to_stop_is_heard() -> None:
    with pytest.raises(Stopped):
        lint("one = 1\n", ONE, stop=lambda: True)


def test_a_rule_that_is_stopped_is_not_a_rule_that_raises() -> None:
    class Stopping(OneOnly):
        def check(self, facts: Facts) -> Iterator[Report]:
            del facts
            raise Stopped

    with pytest.raises(Stopped):
        lint("one = 1\n", ONE, rule_of={"LLM901": Stopping})
    assert WordFacts.closed == ["train.py"]


def test_a_place_in_another_file_is_for_the_run_on_that_file() -> None:
    class Elsewhere(OneOnly):
        def check(self, facts: Facts) -> Iterator[Report]:
            for place in places(facts, "one"):
                yield self.report(Place("model.py", place.range, "one"), "there")
                yield self.report(place, "here", related=[(Place("model.py", place.range, "one"), "made there")])

    (found,) = lint("one = 1\n", ONE, rule_of={"LLM901": Elsewhere})
    assert found.message == "here"
    assert [(related.location.path, related.message) for related in found.related] == [("model.py", "made there")]


def test_equal_reports_are_one_with_the_related_places_of_all() -> None:
    class Twice(OneOnly):
        def check(self, facts: Facts) -> Iterator[Report]:
            (place,) = places(facts, "one")
            for caller in places(facts, "two"):
                yield self.report(place, "called", related=[(caller, "from here")])

    (found,) = lint("one = 1\ntwo\ntwo\n", ONE, rule_of={"LLM901": Twice})
    assert [related.location.range.start.row for related in found.related] == [2, 3]


def test_a_fix_that_cant_be_made_is_left_out_and_the_report_stays() -> None:
    class Unfixable(OneOnly):
        def check(self, facts: Facts) -> Iterator[Report]:
            for place in places(facts, "one"):
                yield self.report(place, "said", fix=[InsertBefore(place.range, "x = ")])

    (found,) = lint("one = 1\n", ONE, rule_of={"LLM901": Unfixable})
    assert found.fix is None


def test_reports_of_a_notebook_land_in_their_cells() -> None:
    first, second = lint(notebook("x = 1\none = 1", "\none = 2"), ONE)
    assert (first.location.cell, first.location.range.start) == (1, Position(2, 1))
    assert (second.location.cell, second.location.range.start) == (3, Position(2, 1))
    assert second.fix is not None
    assert second.fix.edits[0].location == second.location


# ---------------------------------------------------------------- supersedes and severity


def test_a_superseded_report_is_dropped_at_the_same_place() -> None:
    over = entry(OneOnly, "one-only", supersedes=("LLM902",))
    assert told(lint("one = 1\n", over, TOO)) == [(1, "LLM901")]
    assert told(lint("one = 1\n", TOO)) == [(1, "LLM902")]


def test_a_superseded_report_stays_at_another_place() -> None:
    class Next(OneToo):
        def check(self, facts: Facts) -> Iterator[Report]:
            for place in places(facts, "two"):
                yield self.report(place, "`two`")

    over = entry(OneOnly, "one-only", supersedes=("LLM902",))
    rule_of = {"LLM901": OneOnly, "LLM902": Next}
    assert told(lint("one, two\n", over, TOO, rule_of=rule_of)) == [(1, "LLM901"), (1, "LLM902")]
    assert told(lint("one\ntwo\n", over, TOO, rule_of=rule_of)) == [(1, "LLM901"), (2, "LLM902")]


def test_what_supersedes_is_in_turn_superseded() -> None:
    class Third(OneOnly):
        code = "LLM904"

    rules = (
        entry(OneOnly, "first", ("LLM902",)),
        entry(OneToo, "second", ("LLM904",)),
        entry(Third, "third"),
    )
    assert told(lint("one\n", *rules, rule_of={**RULES, "LLM904": Third})) == [(1, "LLM901")]


@pytest.mark.parametrize("word", ["LLM901", "one-only"])
def test_the_users_severity_replaces_the_rules_own(word: str) -> None:
    (found,) = lint("one = 1\n", ONE, settings=Settings(severity={word: Severity.INFORMATION}))
    assert found.severity is Severity.INFORMATION


@pytest.mark.parametrize(
    ("wanted", "told_as"),
    [(Severity.ERROR, Severity.WARNING), (Severity.INFORMATION, Severity.INFORMATION)],
)
def test_a_report_that_its_rule_lowered_is_not_raised(wanted: Severity, told_as: Severity) -> None:
    class Lower(OneOnly):
        def check(self, facts: Facts) -> Iterator[Report]:
            for place in places(facts, "one"):
                yield self.report(place, "perhaps", severity=Severity.WARNING)

    settings = Settings(severity={"LLM901": wanted})
    (found,) = lint("one = 1\n", ONE, settings=settings, rule_of={"LLM901": Lower})
    assert found.severity is told_as


# ---------------------------------------------------------------- what could not be read


def test_a_syntax_error_is_reported_beside_what_the_rest_says() -> None:
    assert told(lint("one = 1\nx = (\n", ONE)) == [(1, "LLM901"), (2, "LLM000")]


def test_what_could_not_be_read_is_not_reported_where_that_is_ignored() -> None:
    source = Source.from_text("train.py", "x = (\n")
    assert linter.lint(source, ExampleWorld({}, {}, {}), Settings(), [ONE]) == []


# ---------------------------------------------------------------- suppressions


@pytest.mark.parametrize(
    "text",
    [
        "one = 1  # noqa\n",
        "one = 1  # noqa: LLM901\n",
        "one = 1  # llm-lint: ignore[one-only]\n",
        "one = (  # noqa: LLM901\n    1,\n)\n",
        "one = (\n    1,\n)  # noqa: LLM901\n",
        "x = (\n    one,\n)  # noqa: LLM901\n",
        "x = (  # noqa: LLM901\n    one,\n)\n",
        "with f(\n    one\n):  # noqa: LLM901\n    pass\n",
        "# llm-lint: ignore-file[LLM901]\nx = 1\none = 1\n",
    ],
)
def test_a_suppression_counts_on_the_first_line_and_on_those_of_the_statement(text: str) -> None:
    assert lint(text, ONE) == []


@pytest.mark.parametrize(
    "text",
    [
        "with f(\n    one\n):\n    x = 1  # noqa: LLM902\n",
        "x = 1  # noqa: LLM902\none = 1\n",
        "one = 1  # noqa: LLM902\n",
        "one = '''\n# noqa: LLM901\n'''\n",
    ],
)
def test_a_suppression_elsewhere_does_not_count(text: str) -> None:
    assert [found.code for found in lint(text, ONE)] == ["LLM901"]


def fixed(text: str, *rules: RuleEntry) -> str:
    from llm_lsp.fixes import fix

    return fix(Source.from_text("train.py", text), lambda source: lint(source, *rules), unsafe=False).source.text


def test_an_unused_suppression_is_reported_and_its_fix_takes_it_away() -> None:
    (found,) = lint("two = 1  # noqa: LLM901\n", ONE)
    assert (found.code, found.severity) == ("LLM001", Severity.WARNING)
    assert found.message == "`LLM901` suppresses nothing here"
    assert fixed("two = 1  # noqa: LLM901\n", ONE) == "two = 1\n"


def test_only_the_unused_code_of_a_suppression_is_taken_away() -> None:
    text = "one = 1  # noqa: LLM901, LLM902, E501\n"
    replaced = entry(OneOnly, "one-only", supersedes=("LLM902",))
    assert fixed(text, replaced, TOO) == "one = 1  # noqa: LLM901, E501\n"
    assert fixed(text, ONE, TOO) == text


@pytest.mark.parametrize(
    "text",
    [
        "two = 1  # noqa: E501\n",
        "two = 1  # noqa\n",
        "two = 1  # noqa: LLM777\n",
        "two = 1  # noqa: LLM901, LLM001\n",
        # While the file is broken, what a line would have said is unknown.
        "two = 1  # noqa: LLM901\nx = (\n",
    ],
)
def test_a_suppression_that_cant_be_judged_is_left_alone(text: str) -> None:
    assert "LLM001" not in [found.code for found in lint(text, ONE)]


def test_a_suppression_of_a_rule_that_did_not_run_is_left_alone() -> None:
    assert lint("two = 1  # noqa: LLM902\n", ONE) == []
    assert told(lint("x = 1\none = 1  # noqa: LLM901, LLM903\n", ONE, RAISING)) == [(1, "LLM002")]


def test_a_comment_without_codes_is_judged_only_if_nothing_was_deselected() -> None:
    text = "two = 1  # llm-lint: ignore\n"
    assert [found.code for found in lint(text, ONE)] == ["LLM001"]
    assert lint(text, ONE, settings=Settings(select=("LLM9",))) == []


# ---------------------------------------------------------------- garbage and start-up


class Littering(OneOnly):
    """A rule that leaves a cycle behind."""

    def check(self, facts: Facts) -> Iterator[Report]:
        litter: list[object] = []
        litter.append(litter)
        yield from super().check(facts)


@pytest.mark.parametrize(("rule", "is_clean"), [(OneOnly, True), (Littering, False)])
def test_a_file_leaves_no_garbage_behind(rule: type[Rule], is_clean: bool) -> None:
    def lint_it() -> None:
        source = Source.from_text("train.py", "one = 1\ntwo = 1  # noqa: LLM901\n")
        assert len(lint(source, ONE, TOO, RAISING, rule_of={**RULES, "LLM901": rule})) == 3

    lint_it()
    gc.collect()
    gc.disable()
    try:
        for _ in range(10):
            lint_it()
        assert (gc.collect() == 0) is is_clean
    finally:
        gc.enable()


EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "support-bot" / "support_bot").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_real_file_leaves_no_garbage_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Asking(OneOnly):
        def check(self, facts: Facts) -> Iterator[Report]:
            list(facts.meetings())
            yield from ()

    monkeypatch.setattr("llm_lsp.facts.Facts", Facts)
    text = path.read_text(encoding="utf-8")
    always = ONE._replace(triggers=())
    assert lint(text, always, rule_of={"LLM901": Asking}) == []
    gc.collect()
    gc.disable()
    try:
        lint(text, always, rule_of={"LLM901": Asking})
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_file_without_a_trigger_costs_neither_the_interpreter_nor_the_fixes() -> None:
    code = """
import sys
from llm_lsp import linter
from llm_lsp.settings import Settings
from llm_lsp.source import Source
from llm_lsp.world import World

linter.lint(Source.from_text("a.py", "x = 1\\n"), None, Settings(), [])
print(sorted(name for name in sys.modules if name.startswith(("llm_lsp.facts", "llm_lsp.fixes", "llm_lsp.rule"))))
"""
    root = Path(linter.__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
