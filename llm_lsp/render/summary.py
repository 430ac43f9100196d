"""The last line of a report for people, and the table of `--statistics`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from llm_lsp.diagnostic import Applicability, Diagnostic, Severity
from llm_lsp.render.paint import Paint
from llm_lsp.render.results import Results

__all__ = ["count", "difference_summary", "statistics", "summary"]


def summary(results: Results) -> str:
    """What was found and what can be done about it, in one line."""
    total = len(results.diagnostics)
    fixed = f"Fixed {count(results.fixed, 'problem')}; " if results.fixed else ""
    where = f"in {count(results.files, 'file')}"
    if not total:
        return f"{fixed}{'no' if fixed else 'No'} problems {'left ' if fixed else ''}{where}."
    kinds = Counter(diagnostic.severity for diagnostic in results.diagnostics)
    named = ", ".join(_severity(kinds[severity], severity) for severity in Severity if kinds[severity])
    found = f"{fixed}{'found' if fixed else 'Found'} {count(total, 'problem')} ({named}) {where}"
    return f"{found}{_repairable(results)}."


def difference_summary(changes: int, files: int, left: Sequence[Diagnostic]) -> str:
    """What `--diff` would change, and what it leaves to --unsafe-fixes, in one line; empty where there is neither."""
    unsafe = sum(_has_fix(diagnostic, Applicability.UNSAFE) for diagnostic in left)
    if changes:
        more = f"; {unsafe:,} more with --unsafe-fixes" if unsafe else ""
        return f"Would fix {count(changes, 'problem')} in {count(files, 'file')}{more}."
    return f"No fix is safe; {unsafe:,} can be shown with --unsafe-fixes." if unsafe else ""


def statistics(results: Results, paint: Paint) -> list[str]:
    """How often each rule reports, the most frequent first."""
    counts = Counter((diagnostic.code, diagnostic.name) for diagnostic in results.diagnostics)
    width = max((len(str(number)) for number in counts.values()), default=1)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [f"{number:>{width}} {paint('code', code)} {name}" for (code, name), number in ordered]


def count(number: int, noun: str) -> str:
    """The number with its noun, `1 file`, `2,000 files`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _severity(number: int, severity: Severity) -> str:
    # "information" has no plural.
    return f"{number:,} information" if severity is Severity.INFORMATION else count(number, severity.value)


def _repairable(results: Results) -> str:
    safe = sum(_has_fix(diagnostic, Applicability.SAFE) for diagnostic in results.diagnostics)
    unsafe = sum(_has_fix(diagnostic, Applicability.UNSAFE) for diagnostic in results.diagnostics)
    if results.unsafe_fixes:
        return f"; {safe + unsafe:,} can be fixed with --fix --unsafe-fixes" if safe + unsafe else ""
    if safe and unsafe:
        return f"; {safe:,} can be fixed with --fix, {unsafe:,} more with --unsafe-fixes"
    if safe:
        return f"; {safe:,} can be fixed with --fix"
    return f"; {unsafe:,} can be fixed with --unsafe-fixes" if unsafe else ""


def _has_fix(diagnostic: Diagnostic, applicability: Applicability) -> bool:
    return diagnostic.fix is not None and diagnostic.fix.applicability is applicability
