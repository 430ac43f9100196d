"""The harness passes an honest rule, and fails each of the ways in which a rule can be wrong."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import pytest

from llm_lsp.diagnostic import Position, Range
from llm_lsp.examples import ExampleWorld, contents_of, program_of, source_of
from llm_lsp.facts import NO, UNKNOWN, YES, Place, Truth
from llm_lsp.facts.truth import answer, set_answer_hook
from llm_lsp.rule import Good, Rule
from llm_lsp.source import Source
from llm_lsp.testing import check_rule, check_silence, fix_of
from llm_lsp.world import World

RULE = '''
from llm_lsp.rule import NO, UNKNOWN, YES, Bad, Good, InsertBefore, Replace, Rule, Severity


class WordFound(Rule):
    """A word is found.

    Why that is bad.
    """

    code = "ACME1"
    severity = Severity.WARNING
    triggers = ("one",)
    bad = [
        Bad("""
            x = 1
            one = x  # <- `one` is there
            if x:
                one = f(x, "é")  # <- is there
        """, fixed="""
            x = 1
            two = x
            if x:
                two = f(x, "é")
        """),
        Bad({"some.py": "from other import x\\none = x  # <- there", "other.py": "x = 1"}, {"some.py": "from other import x\\ntwo = x"}),
    ]
    good = [Good("two = 1"), Good("one = 1  # harmless")]

    def check(self, facts):
        for place in facts.places("one"):
            if facts.is_harmless(place) is NO:
                yield self.report(place, "`one` is there", fix=[Replace(place.range, "two")])
'''


class NoWays:
    """Stands for `Ways`: no module leads to another."""

    modules: ClassVar[list[Source]] = []
    entered: ClassVar[list[Source]] = []
    may_be_led_to = False


class WordFacts:
    """Stands for `Facts`: knows the names of a module, and which stand on lines that say that they are harmless."""

    ways = NoWays()

    def __init__(self, source: Source, world: World, _stop: Callable[[], bool]) -> None:
        self.source = source
        self.world = world

    def close(self) -> None:
        del self.source

    def places(self, word: str) -> Iterator[Place]:
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Name) and node.id == word:
                yield Place(self.source.path, self.source.range_of(node), word)

    def places_by_bytes(self, word: str) -> Iterator[Place]:
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Name) and node.id == word:
                start = Position(node.lineno, node.col_offset + 1)
                yield Place(self.source.path, Range(start, Position(start.row, start.column + len(word))), word)

    def is_harmless(self, place: Place) -> Truth:
        return answer(YES if "harmless" in self.source.lines[place.range.start.row - 1] else NO)


@pytest.fixture(autouse=True)
def facts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm_lsp.facts.Facts", WordFacts)


Make = Callable[..., type[Rule]]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """The rule above, with some of its text replaced."""

    def make(*replacements: tuple[str, str], name: str = "word_found") -> type[Rule]:
        text = RULE
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(f"acme_rules.words.{name}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        rule: type[Rule] = module.WordFound
        return rule

    return make


def test_an_honest_rule_passes(make: Make) -> None:
    check_rule(make())


REPORT = 'yield self.report(place, "`one` is there", fix=[Replace(place.range, "two")])'
GIVES_NO_FIX = (REPORT, 'yield self.report(place, "`one` is there")')
IF_HARMFUL = "if facts.is_harmless(place) is NO:"
CHECK = "    def check(self, facts):\n"

WRONG = {
    "an unmarked report": (
        [("one = x  # <- `one` is there", "one = x")],
        r"bad\[0\]: reports `.*`, which is not marked for it, at example\.py, line 2\n    one = x",
    ),
    "a second report on a marked line": (
        [(REPORT, f"{REPORT}\n                yield self.report(place, 'there, again')")],
        "reports `there, again`, which is not marked",
    ),
    "a marked line without a report": (
        [("x = 1\n            one", "x = 1  # <- one is there\n            one")],
        r"does not report `one is there`, at example\.py, line 1",
    ),
    "a wrong word": ([("# <- is there", "# <- is here")], "reports `.*`, marked `is here`"),
    "no mark": (
        [(" # <- `one` is there", ""), (" # <- is there", ""), (" # <- there", "")],
        "no line is marked",
    ),
    "another severity": (
        [(REPORT, REPORT.replace('there"', 'there", severity=Severity.INFORMATION'))],
        "reports information, not warning",
    ),
    "a report on an innocent program": (
        [('Good("two = 1")', 'Good("one = 1")')],
        r"good\[0\]: ACME1 reports `.*` at example\.py, line 1",
    ),
    "triggers that the example has not": (
        [('("one",)', '("three",)')],
        "does not report `.*`, since no word of `triggers` occurs in example.py, at example",
    ),
    "a fix that is not the promised one": (
        [('Replace(place.range, "two")', 'Replace(place.range, "three")')],
        r"the fixes of example\.py don't give `fixed`(?s:.)*-two = x\n\+three = x",
    ),
    "a fix that is not promised": (
        [('{"some.py": "from other import x\\ntwo = x"}', "None")],
        r"bad\[1\]: the fixes of some\.py don't give `fixed`",
    ),
    "a promised fix that is not given": ([GIVES_NO_FIX], "don't give `fixed`"),
    "a fix that is not clean": (
        [
            ('("one",)', '("one", "two")'),
            (
                CHECK,
                CHECK
                + """\
        for place in () if list(facts.places('one')) else facts.places('two'):
            yield self.report(place, 'now there is `two`')
""",
            ),
        ],
        r"bad\[0\]: `fixed` is not clean: now there is `two`",
    ),
    "fixes that never settle": (
        [('Replace(place.range, "two")', 'InsertBefore(place.range, "y = 1")')],
        "do not settle",
    ),
    "a report that no example makes": (
        [
            (
                CHECK,
                CHECK
                + "        if facts.source.path == 'never.py':\n            yield self.report(\n                None, 'never'\n            )\n",
            )
        ],
        r"no example in `bad` makes the report in line \d+ of word_found\.py",
    ),
    "a rule that takes unknown for no": (
        [(IF_HARMFUL, "if facts.is_harmless(place) is not YES:")],
        "nothing is known, and yet it reports `.*`",
    ),
    "a rule that finds more when it knows less": (
        [
            (IF_HARMFUL, "if first is not NO or (facts.is_harmless(place) is NO and place.range.start.row == 2):"),
            (
                CHECK,
                CHECK
                + """\
        first = facts.is_harmless(next(facts.places('x')))
        if first is UNKNOWN and facts.is_harmless(next(facts.places('x'))) is UNKNOWN:
            return
""",
            ),
            (" # <- is there", ""),
            ("two = f(", "one = f("),
        ],
        "answer 1 turned from NO to UNKNOWN adds the report",
    ),
    "a rule that raises on half a program": (
        [(CHECK, CHECK + "        assert not facts.source.problems\n")],
        r"ACME1 raises on the prefix of example\.py that ends in:(?s:.)*AssertionError",
    ),
    "a rule that raises on half an innocent program": (
        [
            (CHECK, CHECK + "        assert not facts.source.problems or 'harmless' not in facts.source.text\n"),
            ('"one = 1  # harmless"', '"harmless = f(one)"'),
        ],
        r"good\[1\]: ACME1 raises on the prefix",
    ),
    "a rule that raises on CRLF": (
        [(CHECK, CHECK + "        assert b'\\r' not in facts.source.data\n")],
        r"raises on example\.py with CRLF line ends",
    ),
    "a rule that reports an innocent program with CRLF": (
        [
            (
                CHECK,
                CHECK
                + """\
        if b'harmless\\r\\n' in facts.source.data:
            yield self.report(next(facts.places('one')), '`one` ends the line')
""",
            ),
        ],
        r"good\[1\]: with CRLF line ends it reports",
    ),
    "a rule that is blind to CRLF": (
        [("for place in", "for place in () if b'\\r' in facts.source.data else")],
        "with CRLF line ends it reports",
    ),
    "a rule that raises on other alphabets": (
        [(CHECK, CHECK + "        assert 'größe' not in facts.source.text\n")],
        "with other alphabets",
    ),
    "a rule that takes bytes for columns": (
        [("facts.places(", "facts.places_by_bytes(")],
        "with other alphabets it reports",
    ),
    "a rule that raises on notebooks": (
        [(CHECK, CHECK + "        assert not facts.source.is_notebook\n")],
        r"raises on example\.ipynb as a notebook",
    ),
    "an example that does not parse": ([('Good("two = 1")', 'Good("two = (")')], r"good\[0\]: example\.py, line 1: "),
    "a bad example that does not parse": ([("if x:\n", "if x\n")], r"bad\[0\]: example\.py, line 3: "),
    "a message with a full stop": ([('`one` is there",', '`one` is there.",')], "not one clause"),
    "a message of two sentences": ([('`one` is there",', '`one` is there. Really",')], "not one clause"),
    "a message of two lines": ([('`one` is there",', '`one` is there\\nreally",')], "not one line"),
    "no docstring": ([('"""A word is found.\n\n    Why that is bad.\n    """', "")], "docstring"),
    "a docstring that begins with two sentences": ([("A word is found.", "A word is found. Two.")], "docstring"),
    "a docstring that begins with half a sentence": ([("A word is found.\n", "A word is\n    found.\n")], "docstring"),
    "no triggers": ([('("one",)', "()")], "no `triggers`"),
    "a code that is none": ([('"ACME1"', '"acme-1"')], "`acme-1` is not capital letters and a number"),
    "no good example": ([('good = [Good("two = 1"), Good("one = 1  # harmless")]', "good = []")], "`good`"),
}


@pytest.mark.parametrize("fault", WRONG)
def test_the_harness_fails_on(make: Make, fault: str) -> None:
    replacements, message = WRONG[fault]
    rule = make(*replacements)
    with pytest.raises(AssertionError, match=message):
        check_rule(rule)


def test_a_quoted_full_stop_is_no_end_of_a_sentence(make: Make) -> None:
    check_rule(make(('"`one` is there"', '"`a. b;` says that `one` is there"'), ("<- `one`", "<- that `one`")))


def test_two_marks_on_a_line_stand_for_two_reports(make: Make) -> None:
    rule = make(
        (REPORT, f"{REPORT}\n                yield self.report(place, 'once more')"),
        ("# <- `one` is there", "# <- `one` is there # <- once more"),
        ("# <- is there", "# <- once more # <- is there"),
        ("# <- there", "# <- there # <- once"),
    )
    check_rule(rule)


def test_an_example_may_be_a_notebook_with_marks_in_its_cells(make: Make) -> None:
    cells = (
        'Bad({"a.ipynb": ["one = 1  # <- is there", "y = x\\none = y  # <- is there"]},'
        ' {"a.ipynb": ["two = 1", "y = x\\ntwo = y"]}),'
    )
    check_rule(make(("    bad = [\n", f"    bad = [\n        {cells}\n")))
    with pytest.raises(AssertionError, match=r"not marked for it, at a\.ipynb, cell 2, line 2\n    one = y"):
        check_rule(make(("    bad = [\n", f"    bad = [\n        {cells.replace('y  # <-', 'y  #')}\n")))


def test_an_example_may_lower_the_severity_for_all_of_its_reports(make: Make) -> None:
    lowered = (REPORT, REPORT.replace('there"', 'there", severity=Severity.INFORMATION'))
    marks = [('two = f(x, "é")\n        """', 'two = f(x, "é")\n        """, severity=Severity.INFORMATION')]
    marks.append(('ntwo = x"})', 'ntwo = x"}, severity=Severity.INFORMATION)'))
    check_rule(make(lowered, *marks))


# ---------------------------------------------------------------- silence


def test_every_rule_must_be_silent_on_every_good_example(make: Make) -> None:
    first = make()
    second = make(('"ACME1"', '"ACME2"'), ("one", "three"), name="three_found")
    check_silence([first, second], [*first.good, *second.good, Good("four = 4")])
    with pytest.raises(AssertionError, match=r"`good`: ACME2 reports `.*` at example\.py, line 1\n    three = 3"):
        check_silence([first, second], [*first.good, Good("three = 3")])


def test_every_rule_must_be_silent_on_what_the_fixes_make(make: Make) -> None:
    first = make()
    second = make(('"ACME1"', '"ACME2"'), ("two", "three"), ("one", "two"), name="two_found")
    check_silence([first], first.bad)
    with pytest.raises(AssertionError, match=r"`fixed`: ACME2 reports"):
        check_silence([first, second], first.bad)


# ---------------------------------------------------------------- fixes, as the index names them


@pytest.mark.parametrize(
    ("report", "fix"),
    [
        (REPORT, "unsafe"),
        (REPORT.replace("])", "], safe=True)"), "safe"),
        (REPORT.replace("])", "], safe=place.range.start.row == 2)"), "unsafe"),
        (GIVES_NO_FIX[1], "none"),
    ],
)
def test_a_rules_fix_is_as_safe_as_the_least_safe_of_its_examples(make: Make, report: str, fix: str) -> None:
    assert fix_of(make((REPORT, report))) == fix


# ---------------------------------------------------------------- examples


def test_marks_and_shared_indentation_are_no_part_of_an_example() -> None:
    program = program_of("\n    x = 1\n    if x:\n        one  # <- a, b # <- c\n")
    assert program.files == {"example.py": "x = 1\nif x:\n    one\n"}
    assert {str(line): words for line, words in program.marks.items()} == {"example.py, line 3": ("a, b", "c")}


def test_cells_of_an_example_are_the_cells_of_its_notebook() -> None:
    program = program_of({"a.ipynb": ["x = 1", "one\n# <- here"]})
    source = source_of("a.ipynb", program.files["a.ipynb"])
    assert source.problems == ()
    assert [cell.number for cell in source.cells] == [1, 2]
    assert contents_of(source) == ["x = 1", "one\n"]


def test_the_world_of_an_example_is_its_files_versions_and_checkpoints() -> None:
    folders = {"./out/model": {"config.json": '{"model_type": "bert", "vocab_size": 30522}'}}
    files = program_of({"a/b.py": "x = 1", "a/__init__.py": "", "main.py": "y = 1"}).files
    with ExampleWorld(files, {"Sentence_Transformers": ">=5"}, folders) as world:
        requirement = world.version("sentence-transformers")
        assert requirement is not None
        assert (requirement.specifier, world.version("torch")) == (">=5", None)
        checkpoint = world.checkpoint("out/model")
        assert checkpoint is not None
        assert checkpoint.model_type is not None
        assert checkpoint.model_type.value == "bert"
        assert world.checkpoint("out/other") is None

        def path(name: str, importer: str) -> str | None:
            source = world.module(name, importer)
            return source.path if source else None

        assert path("a.b", "main.py") == "a/b.py"
        assert path("a", "main.py") == "a/__init__.py"
        assert path("b", "a/c.py") == "a/b.py"
        assert path(".b", "a/c.py") == "a/b.py"
        assert path("..main", "a/c.py") == "main.py"
        assert path("...main", "a/c.py") is None
        assert path("torch", "main.py") is None


def test_an_answer_passes_unchanged_unless_a_hook_is_set() -> None:
    assert answer(YES) is YES
    set_answer_hook(lambda truth: UNKNOWN if truth is NO else truth)
    try:
        assert (answer(YES), answer(NO)) == (YES, UNKNOWN)
    finally:
        set_answer_hook(None)
    assert answer(NO) is NO
