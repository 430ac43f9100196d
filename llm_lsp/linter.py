"""From one file and the rules to diagnostics; no file is read here, nothing is printed, no clock is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from llm_lsp import registry
from llm_lsp.builtin_codes import NOT_ANALYSED, UNUSED_SUPPRESSION
from llm_lsp.diagnostic import (
    Applicability,
    Diagnostic,
    Edit,
    Fix,
    Location,
    Position,
    Range,
    Related,
    Severity,
)
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.registry import RuleEntry
from llm_lsp.suppression import names_our_codes

if TYPE_CHECKING:  # neither is needed for a file without a trigger, and both cost more than reading it
    from llm_lsp.facts import Facts, Place
    from llm_lsp.rule import Report, Rule
    from llm_lsp.settings import Settings
    from llm_lsp.source import Source
    from llm_lsp.whole_program import Found, Run, Runs
    from llm_lsp.world import World

__all__ = ["Crash", "lint"]


class Crash(NamedTuple):
    """A rule, or the analysis before all rules, that raised; for a bug report, never for the diagnostics."""

    path: str
    code: str | None
    """None where the analysis itself failed."""
    traceback: str


class _Finding(NamedTuple):
    """A diagnostic on its way: the range still counts through the whole module."""

    entry: RuleEntry
    range: Range
    message: str
    severity: Severity
    report: Report | None
    script: Source | None = None
    """Another file, where only running it shows the fault."""


def never() -> bool:
    """The answer of who does not want to stop."""
    return False


def lint(  # noqa: PLR0913 (all but four are for those who lint many files, or want to know more)
    source: Source,
    world: World,
    settings: Settings,
    rules: Iterable[RuleEntry],
    stop: Callable[[], bool] = never,
    *,
    load: Callable[[RuleEntry], Rule] = registry.load,
    on_crash: Callable[[Crash], None] | None = None,
    observe: Callable[[Facts], None] | None = None,
    runs: Runs | None = None,
) -> list[Diagnostic]:
    """What the rules say of a file, in the order of its text.

    Args:
        source: the file.
        world: answers what the file alone can't.
        settings: of this file; here they decide severities, `registry.enabled` has chosen the rules by them.
        rules: those that run, llm-lint's own codes (`LLM000`...) included.
        stop: asked now and then; as soon as it is true, `facts.Stopped` is raised.
        load: makes the rule of an entry.
        on_crash: told of each rule that raises, which costs the others nothing and is reported as LLM002.
        observe: shown the facts, if any rule asked for them, while they can be asked; what it raises is a crash.
        runs: of files, kept from one to the next of a project, where many are linted.
    """
    chosen = {rule.code: rule for rule in rules}
    findings = [
        _Finding(chosen[problem.code], problem.range, problem.message, chosen[problem.code].severity, None)
        for problem in source.problems
        if problem.code in chosen
    ]
    crashes: list[Crash] = []
    candidates = [rule for rule in chosen.values() if not rule.is_builtin]
    triggered = [rule for rule in candidates if rule.is_triggered_by(source.snippets)]
    if triggered:
        findings += _reported(source, _Job(world, stop, load, crashes, observe, candidates, runs), triggered)
        findings += _not_analysed(source, crashes, chosen)
        if on_crash is not None:
            for crash in crashes:
                on_crash(crash)
    kept, suppressed = _unsuppressed(source, _unsuperseded(_merged(findings)))
    diagnostics = [_diagnostic(source, finding, settings) for finding in kept]
    may_be_unused = suppressed or names_our_codes(source.text)
    if UNUSED_SUPPRESSION.code in chosen and may_be_unused and not crashes and not source.masked:
        diagnostics += _unused_suppressions(source, suppressed, settings, chosen)
    return sorted(diagnostics, key=lambda diagnostic: (diagnostic.location, diagnostic.code, diagnostic.message))


# ---------------------------------------------------------------- running the rules


class _Job(NamedTuple):
    world: World
    stop: Callable[[], bool]
    load: Callable[[RuleEntry], Rule]
    crashes: list[Crash]
    observe: Callable[[Facts], None] | None
    candidates: Sequence[RuleEntry]
    """The rules that may run."""
    runs: Runs | None


def _reported(source: Source, job: _Job, rules: Sequence[RuleEntry]) -> list[_Finding]:
    from llm_lsp.facts import Stopped
    from llm_lsp.whole_program import Runs

    runs = Runs() if job.runs is None else job.runs
    findings: list[_Finding] = []
    try:
        run = runs.run(source, job.world, source, job.stop)
        findings += _said(run, runs, job, rules)
        _show(source, run.facts, job)
    except BaseException as error:
        # What was broken off is no use to anybody.
        runs.close()
        if isinstance(error, Stopped) or not isinstance(error, Exception):
            raise
        job.crashes.append(_crash(source, None, error))
    finally:
        # While files are linted the garbage collector is off, so nobody else would ever take the cycles apart.
        runs.trim() if runs is job.runs else runs.close()
    return findings


def _show(source: Source, facts: Facts, job: _Job) -> None:
    from llm_lsp.facts import Stopped

    if job.observe is None:
        return
    try:
        job.observe(facts)
    except Stopped:
        raise
    except Exception as error:  # noqa: BLE001 - the findings are there already
        job.crashes.append(_crash(source, None, error))


def _said(run: Run, runs: Runs, job: _Job, rules: Sequence[RuleEntry]) -> Iterator[_Finding]:
    """What the rules say of the file, run by itself and by the scripts that lead to it."""
    from llm_lsp.facts import Stopped
    from llm_lsp.whole_program import WholeProgram

    def check(rule: RuleEntry, facts: Facts) -> list[Report] | None:
        """All of a rule's reports, or none: half of them would not be what it has to say."""
        try:
            return list(job.load(rule).check(facts))
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the other rules go on
            job.crashes.append(_crash(run.source, rule.code, error))
            return None

    program = WholeProgram(run, runs, check)
    triggered = {rule.code for rule in rules}
    for rule in job.candidates:
        if rule.code in triggered or program.leads_to_what_triggers(rule):
            yield from map(_finding, program.by_itself(rule))
    yield from map(_finding, program.by_scripts(rules))


def _finding(found: Found) -> _Finding:
    report = found.report
    return _Finding(found.entry, report.place.range, report.message, report.severity, report, found.script)


def _crash(source: Source, code: str | None, error: Exception) -> Crash:
    from traceback import format_exception

    return Crash(source.path, code, "".join(format_exception(type(error), error, error.__traceback__)))


def _not_analysed(source: Source, crashes: Sequence[Crash], chosen: dict[str, RuleEntry]) -> Iterator[_Finding]:
    entry = chosen.get(NOT_ANALYSED.code)
    if entry is None:
        return
    from llm_lsp.source import too_deep

    first_line = source.text.partition("\n")[0]
    place = Range(Position(1, 1), Position(1, len(first_line) + 1))
    for crash in crashes:
        who = "the analysis" if crash.code is None else f"rule `{chosen[crash.code].name}` ({crash.code})"
        said = crash.traceback.strip().rpartition("\n")[2]
        # What Python could parse may still be too deep for those who walk the tree: no bug, and there is a way out.
        is_depth = said.startswith(RecursionError.__name__)
        message = too_deep().message if is_depth else f"{who} failed on this file: {said}"
        yield _Finding(entry, place, message, entry.severity, None)


# ---------------------------------------------------------------- what is left of what they said


def _merged(findings: Iterable[_Finding]) -> list[_Finding]:
    """Equal reports once: the same fault is found again through each caller of a function."""
    merged: dict[tuple[str, Range, str], _Finding] = {}
    for finding in findings:
        key = (finding.entry.code, finding.range, finding.message)
        before = merged.get(key)
        merged[key] = finding if before is None else _joined(before, finding)
    return list(merged.values())


def _joined(first: _Finding, second: _Finding) -> _Finding:
    severity = first.severity if first.severity.is_at_least(second.severity) else second.severity
    if first.report is None or second.report is None:
        return first._replace(severity=severity)
    related = tuple(dict.fromkeys((*first.report.related, *second.report.related)))
    report = first.report._replace(related=related, repair=first.report.repair or second.report.repair)
    return first._replace(severity=severity, report=report)


def _unsuperseded(findings: list[_Finding]) -> list[_Finding]:
    """Without the reports of rules that another report at the same place makes superfluous."""
    superseding = [finding for finding in findings if finding.entry.supersedes]
    return [
        finding
        for finding in findings
        if not any(
            finding.entry.code in other.entry.supersedes and _same_place(finding.range, other.range)
            for other in superseding
        )
    ]


def _same_place(one: Range, other: Range) -> bool:
    return one.start.row == other.start.row and (one == other or (one.start < other.end and other.start < one.end))


class _Suppressed(NamedTuple):
    """What `Suppressions` asks about a diagnostic."""

    code: str
    name: str
    rows: tuple[int, int, int]


def _unsuppressed(source: Source, findings: list[_Finding]) -> tuple[list[_Finding], list[_Suppressed]]:
    if not findings:
        return [], []  # and nobody has to find the comments
    suppressions = source.suppressions
    if not suppressions.by_row and not suppressions.file_wide:
        return findings, []  # and nobody has to find the rows of statements
    kept: list[_Finding] = []
    suppressed: list[_Suppressed] = []
    for finding in findings:
        row = finding.range.start.row
        asked = _Suppressed(finding.entry.code, finding.entry.name, (row, *source.statement_rows(row)))
        if suppressions.suppressed_by(*asked):
            suppressed.append(asked)
        else:
            kept.append(finding)
    return kept, suppressed


def _unused_suppressions(
    source: Source, suppressed: Sequence[_Suppressed], settings: Settings, chosen: dict[str, RuleEntry]
) -> Iterator[Diagnostic]:
    judged = {word.lower() for rule in chosen.values() if not rule.is_builtin for word in (rule.code, rule.name)}
    # Where some rules were switched off, what a comment without codes is for can't be told.
    all_ran = not (settings.select or settings.ignore or settings.per_file_ignores)
    for unused in source.suppressions.unused(suppressed, lambda written: written.lower() in judged):
        names = ", ".join(f"`{name}`" for name in unused.names)
        excuses = source.suppressions.suppressed_by(
            UNUSED_SUPPRESSION.code, UNUSED_SUPPRESSION.name, (unused.range.start.row,)
        )
        if (not names and not all_ran) or any(excuse.names for excuse in excuses):
            continue
        message = f"{names or 'this comment'} suppresses nothing here"
        edit = Edit(source.locate(unused.removal), unused.replacement)
        entry = chosen[UNUSED_SUPPRESSION.code]
        yield Diagnostic(
            code=entry.code,
            name=entry.name,
            severity=settings.severity.get(entry.code) or settings.severity.get(entry.name) or entry.severity,
            message=message,
            location=source.locate(unused.range),
            fix=Fix("remove the unused suppression", Applicability.SAFE, (edit,)),
        )


# ---------------------------------------------------------------- diagnostics


def _diagnostic(source: Source, finding: _Finding, settings: Settings) -> Diagnostic:
    report = finding.report
    return Diagnostic(
        code=finding.entry.code,
        name=finding.entry.name,
        severity=_severity(finding, settings),
        message=finding.message,
        location=source.locate(finding.range),
        related=tuple(_related(source, finding.script, *related) for related in report.related) if report else (),
        help=report.help if report else None,
        fix=_fix(source, report) if report else None,
    )


def _severity(finding: _Finding, settings: Settings) -> Severity:
    """The user's word for the rule replaces the rule's; a report that the rule lowered is not raised by it."""
    entry = finding.entry
    wanted = settings.severity.get(entry.code) or settings.severity.get(entry.name)
    if wanted is None or (finding.severity is not entry.severity and wanted.is_at_least(finding.severity)):
        return finding.severity
    return wanted


def _related(source: Source, script: Source | None, place: Place, message: str) -> Related:
    for known in (source, script):
        if known is not None and place.path == known.path:
            return Related(known.locate(place.range), message)
    # Nobody imports a notebook, so another module's positions are those of its file.
    return Related(Location(place.path, None, place.range), message)


def _fix(source: Source, report: Report) -> Fix | None:
    if report.repair is None:
        return None
    from llm_lsp.fixes import realise

    return realise(source, report.repair)
