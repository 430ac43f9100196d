"""Proves that a rule does what its examples say; for our own rules and for those of any other pack.

`check_rule` takes one rule, `check_silence` all of them: a program that is innocent of one fault is no excuse for
another rule's report. Both raise AssertionError with what is wrong and where.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from inspect import currentframe
from pathlib import Path
from typing import TypeVar

from llm_lsp import registry
from llm_lsp.diagnostic import Applicability, Diagnostic
from llm_lsp.examples import Content, ExampleWorld, Line, Program, contents_of, program_of, source_of
from llm_lsp.facts.truth import Truth, set_answer_hook
from llm_lsp.fixes import FixesDoNotSettle, fix
from llm_lsp.linter import Crash, lint
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.registry import RuleEntry
from llm_lsp.rule import UNKNOWN, Bad, Good, Report, Rule
from llm_lsp.settings import Settings
from llm_lsp.source import Source

__all__ = ["check_rule", "check_silence", "fix_of"]

_T = TypeVar("_T")
_MOST_PREFIXES = 60
_MOST_FORGOTTEN = 60
_SIGN = "\N{HUGGING FACE}"


def check_rule(rule_class: type[Rule]) -> None:
    """Raise AssertionError unless the rule is documented and its examples prove it.

    Exactly the marked lines are reported, in the marked words; the fixes give exactly `fixed`, which parses and is
    clean; each `report` call of the rule's file is made by some example; what turns UNKNOWN is silent; every prefix
    of an example, and its variants with other line ends, other alphabets and as a notebook, are survived.
    """
    rule = _Observed(rule_class)
    _check_contract(rule)
    for index, bad in enumerate(rule_class.bad):
        example = _Example(f"{rule.entry.name}, bad[{index}]", bad, program_of(bad.code), [rule])
        with example.world() as world:
            _check_parses(example, world)
            reports = example.reports(world)
            _check_marks(example, rule, reports)
            _check_reports(example, rule, reports)
            _check_unknown(example, world, reports)
            _check_variants(example, reports)
            _check_prefixes(example, world)
        _check_fix(example)
    for index, good in enumerate(rule_class.good):
        example = _Example(f"{rule.entry.name}, good[{index}]", good, program_of(good.code), [rule])
        with example.world() as world:
            _check_silent(example, world)
            _check_variants(example, [])
            _check_prefixes(example, world)
    _check_report_calls(rule)


def check_silence(rule_classes: Iterable[type[Rule]], examples: Iterable[Good | Bad]) -> None:
    """Raise AssertionError if any of the rules reports anything in a `Good`, or in what the fixes make of a `Bad`."""
    rules = [_Observed(rule_class) for rule_class in rule_classes]
    for example in examples:
        code = example.code if isinstance(example, Good) else example.fixed
        if code is not None:
            kind = "good" if isinstance(example, Good) else "fixed"
            together = _Example(f"an example in `{kind}`", example, program_of(code), rules)
            with together.world() as world:
                _check_silent(together, world)


def fix_of(rule_class: type[Rule]) -> str:
    """`safe` where every fix in the examples is, `unsafe` where one is not, `none` where there is no fix."""
    rule = _Observed(rule_class)
    found: set[Applicability] = set()
    for bad in rule_class.bad:
        example = _Example(rule.entry.name, bad, program_of(bad.code), [rule])
        with example.world() as world:
            found.update(report.fix.applicability for report in example.reports(world) if report.fix)
    return "none" if not found else max(applicability.value for applicability in found)


# ---------------------------------------------------------------- the rule under test, and an example


class _Observed:
    """A rule, and the lines of its file from which it reported."""

    def __init__(self, rule_class: type[Rule]) -> None:
        self.rule_class = rule_class
        self.entry = registry.entry_of(rule_class)
        self.file = Path(sys.modules[rule_class.__module__].__file__ or "")
        self.reported_from: set[int] = set()
        self.rule = rule_class()
        made: Callable[..., Report] = self.rule.report

        def report(*arguments: object, **options: object) -> Report:
            # The caller's frame, since a tracer would get in the way of coverage and debuggers.
            frame = currentframe()
            if frame is not None and frame.f_back is not None:
                self.reported_from.add(frame.f_back.f_lineno)
            return made(*arguments, **options)

        self.rule.report = report  # type: ignore[method-assign]


class _Example(NamedTuple):
    title: str
    example: Bad | Good
    program: Program
    rules: Sequence[_Observed]

    def world(self) -> ExampleWorld:
        return ExampleWorld(self.program.files, self.example.versions, self.example.checkpoints)

    def reports(self, world: ExampleWorld) -> list[Diagnostic]:
        return [report for source in world.sources.values() for report in self.lint(source, world)]

    def lint(self, source: Source, world: ExampleWorld, variant: str = "") -> list[Diagnostic]:
        rules = {observed.entry.code: observed for observed in self.rules}
        crashes: list[Crash] = []

        def load(entry: RuleEntry) -> Rule:
            return rules[entry.code].rule

        entries = [observed.entry for observed in self.rules]
        found = lint(source, world, Settings(), entries, load=load, on_crash=crashes.append)
        for crash in crashes:
            who = crash.code or "the analysis"
            raise AssertionError(f"{self.title}: {who} raises on {variant or source.path}\n{crash.traceback}")
        return found

    def fail(self, message: str) -> AssertionError:
        return AssertionError(f"{self.title}: {message}")

    def shown(self, line: Line) -> str:
        return f"{line}\n    {self.program.text(line).strip()}"


# ---------------------------------------------------------------- what the class says


_CODE = re.compile(r"[A-Z]+[0-9]+")


def _check_contract(rule: _Observed) -> None:
    cls, name = rule.rule_class, rule.entry.name
    problems = [
        (not _CODE.fullmatch(cls.code), f"the code `{cls.code}` is not capital letters and a number"),
        (not cls.bad, "there is no example in `bad`"),
        (not cls.good, "there is no example in `good`"),
        (not cls.triggers, "there are no `triggers`, so every file would be analysed for it"),
        (cls.code in cls.supersedes, "it supersedes itself"),
    ]
    first, _, rest = (cls.__dict__.get("__doc__") or "").strip().partition("\n")
    one_sentence = first.endswith(".") and ". " not in first and not rest.partition("\n")[0].strip()
    problems.append((not one_sentence, "the docstring does not begin with one sentence on a line of its own"))
    for is_wrong, problem in problems:
        if is_wrong:
            raise AssertionError(f"{name}: {problem}")


# ---------------------------------------------------------------- what is reported


def _check_parses(example: _Example, world: ExampleWorld) -> None:
    for source in world.sources.values():
        for problem in source.problems:
            raise example.fail(f"{source.path}, line {problem.range.start.row}: {problem.message}")


def _check_marks(example: _Example, rule: _Observed, reports: Sequence[Diagnostic]) -> None:
    marks = {line: list(words) for line, words in example.program.marks.items()}
    if not marks:
        raise example.fail("no line is marked with `# <- words of the message`")
    for report in reports:
        line = Line.of(report.location)
        left = marks.get(line, [])
        said = next((words for words in left if words in report.message), None)
        if said is None:
            wanted = f", marked `{left[0]}`" if left else ", which is not marked for it"
            raise example.fail(f"reports `{report.message}`{wanted}, at {example.shown(line)}")
        left.remove(said)
    for line, words in marks.items():
        if words:
            content = example.program.files[line.path]
            text = content if isinstance(content, str) else "\n".join(content)
            idle = not any(trigger in text for trigger in rule.entry.triggers)
            why = f", since no word of `triggers` occurs in {line.path}" if idle else ""
            raise example.fail(f"does not report `{words[0]}`{why}, at {example.shown(line)}")


_QUOTED = re.compile(r"`[^`]*`")


def _check_reports(example: _Example, rule: _Observed, reports: Sequence[Diagnostic]) -> None:
    wanted = (example.example.severity if isinstance(example.example, Bad) else None) or rule.entry.severity
    for report in reports:
        if report.severity is not wanted:
            raise example.fail(f"reports {report.severity.value}, not {wanted.value}: {report.message}")
        plain = _QUOTED.sub("``", report.message)
        if not plain.strip() or plain != plain.strip() or "\n" in report.message:
            raise example.fail(f"the message is not one line of text: {report.message!r}")
        if plain.endswith(".") or ". " in plain or ";" in plain:
            raise example.fail(f"the message is not one clause without a full stop: {report.message}")


def _check_silent(example: _Example, world: ExampleWorld) -> None:
    _check_parses(example, world)
    for report in example.reports(world):
        line = Line.of(report.location)
        raise example.fail(f"{report.code} reports `{report.message}` at {example.shown(line)}")


def _check_report_calls(rule: _Observed) -> None:
    for node in ast.walk(ast.parse(rule.file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "report":
            rows = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            if not rule.reported_from.intersection(rows):
                raise AssertionError(
                    f"{rule.entry.name}: no example in `bad` makes the report in line {node.lineno} of {rule.file.name}"
                )


# ---------------------------------------------------------------- fixes


def _check_fix(example: _Example) -> None:
    fixed = example.example.fixed if isinstance(example.example, Bad) else None
    wanted = program_of(fixed).files if fixed is not None else example.program.files
    with example.world() as world:
        for path, source in world.sources.items():
            _check_fixed_file(example, world, source, wanted.get(path, example.program.files[path]))


def _check_fixed_file(example: _Example, world: ExampleWorld, source: Source, wanted: Content) -> None:
    def lint_it(changed: Source) -> list[Diagnostic]:
        world.sources[source.path] = changed
        return example.lint(changed, world, f"{source.path} after a fix")

    try:
        done = fix(source, lint_it, unsafe=True)
    except FixesDoNotSettle as error:
        raise example.fail(str(error)) from None
    got = contents_of(done.source)
    if got != wanted:
        raise example.fail(f"the fixes of {source.path} don't give `fixed`\n{_difference(wanted, got)}")
    if done.source.problems:
        raise example.fail(f"`fixed` does not parse: {done.source.problems[0].message}")
    if done.applied and done.diagnostics:
        raise example.fail(f"`fixed` is not clean: {done.diagnostics[0].message}")


def _difference(wanted: Content, got: Content) -> str:
    from difflib import unified_diff

    before, after = (each if isinstance(each, str) else "\n# a cell\n".join(each) for each in (wanted, got))
    return "\n".join(unified_diff(before.split("\n"), after.split("\n"), "fixed", "what the fixes give", lineterm=""))


# ---------------------------------------------------------------- what is unknown


def _check_unknown(example: _Example, world: ExampleWorld, reports: Sequence[Diagnostic]) -> None:
    """The facts that the reports rest on are forgotten, first all of them, then each alone."""
    with _forgetting(lambda _: False) as heard:
        example.reports(world)
    known = [number for number, truth in enumerate(heard) if truth is not UNKNOWN]
    if not known:
        return
    with _forgetting(lambda _: True):
        for report in example.reports(world):
            raise example.fail(f"nothing is known, and yet it reports `{report.message}`")
    before = {Line.of(report.location) for report in reports}
    for number in _sampled(known, _MOST_FORGOTTEN):
        with _forgetting(number.__eq__) as heard:
            after = example.reports(world)
        for report in after:
            if Line.of(report.location) not in before:
                raise example.fail(
                    f"answer {number + 1} turned from {heard[number].name} to UNKNOWN adds the report "
                    f"`{report.message}` at {example.shown(Line.of(report.location))}"
                )


@contextmanager
def _forgetting(is_forgotten: Callable[[int], bool]) -> Generator[list[Truth], None, None]:
    """Yields the answers as the facts gave them; the rule hears UNKNOWN for those whose number is forgotten."""
    heard: list[Truth] = []

    def hook(truth: Truth) -> Truth:
        heard.append(truth)
        return UNKNOWN if is_forgotten(len(heard) - 1) else truth

    set_answer_hook(hook)
    try:
        yield heard
    finally:
        set_answer_hook(None)


# ---------------------------------------------------------------- variants


def _check_prefixes(example: _Example, world: ExampleWorld) -> None:
    """Half-typed programs may be reported or not, but nothing may raise."""
    for path, content in example.program.files.items():
        cells = [content] if isinstance(content, str) else content
        ends = [(number, end) for number, cell in enumerate(cells) for end in _prefix_ends(cell)]
        for number, end in _sampled(ends, _MOST_PREFIXES):
            prefix = [*cells[:number], cells[number][:end]]
            source = source_of(path, prefix[0] if isinstance(content, str) else prefix)
            example.lint(source, world, f"the prefix of {path} that ends in:\n{prefix[-1][-200:]}\n")


def _prefix_ends(text: str) -> Iterator[int]:
    """The end of each line, the place before its last character, and one inside it that moves from line to line."""
    start = 0
    for row, line in enumerate(text.split("\n")):
        yield start + len(line) * (row % 3 + 1) // 4
        yield start + max(0, len(line) - 1)
        yield start + len(line)
        start += len(line) + 1


def _check_variants(example: _Example, reports: Sequence[Diagnostic]) -> None:
    """The same program in another dress has the same reports."""
    for path, content in example.program.files.items():
        if not isinstance(content, str):
            continue
        wanted = [report for report in reports if report.location.path == path]
        windows = Source.from_bytes(path, content.replace("\n", "\r\n").encode())
        _check_same(example, windows, wanted, "with CRLF line ends")
        _check_same(example, _foreign(path, content, wanted), wanted, "with other alphabets")
        if len(example.program.files) == 1:
            _check_same(example, source_of("example.ipynb", [content]), wanted, "as a notebook")


def _foreign(path: str, text: str, reports: Iterable[Diagnostic]) -> Source:
    """With a statement in wide characters before each reported one, on its line, so that bytes are no columns."""
    lines = text.split("\n")
    starts = {
        node.lineno: node.col_offset
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.stmt) and not hasattr(node, "body") and not hasattr(node, "cases")
    }
    for row in {report.location.range.start.row for report in reports}:
        if row in starts and not lines[row - 1][: starts[row]].strip():
            indentation, rest = lines[row - 1][: starts[row]], lines[row - 1][starts[row] :]
            lines[row - 1] = f'{indentation}größe = "{_SIGN}"; {rest}'
    return Source.from_text(path, "\n".join([*lines, f"größe = '{_SIGN}'  # {_SIGN}", ""]))


def _check_same(example: _Example, source: Source, wanted: Sequence[Diagnostic], variant: str) -> None:
    original = source_of(wanted[0].location.path, example.program.files[wanted[0].location.path]) if wanted else None
    with example.world() as world:
        got = example.lint(source, world, f"{source.path} {variant}")
    shown = [
        [(report.location.range.start.row, report.message, _text(of, report)) for report in several]
        for several, of in ((wanted, original), (got, source))
    ]
    if sorted(shown[0]) != sorted(shown[1]):
        raise example.fail(f"{variant} it reports {shown[1]}, not {shown[0]}")


def _text(source: Source | None, report: Diagnostic) -> str:
    """What a report underlines; the only cell of a notebook starts in its first row."""
    return source.segment(report.location.range) if source else ""


def _sampled(things: Sequence[_T], most: int) -> list[_T]:
    """All of them, or as many as are allowed, evenly spread."""
    step = max(1.0, len(things) / most)
    return [things[int(number * step)] for number in range(min(len(things), most))]
