"""`llm-lint rule`: what a rule reports and why."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from llm_lsp import rule_page
from llm_lsp.cli.terminal import paint_for
from llm_lsp.cli.usage import UsageError
from llm_lsp.registry import RuleEntry, entries, explanation
from llm_lsp.render.paint import Paint

_FIXES = {"safe": "has a fix", "unsafe": "has an unsafe fix", "none": "has no fix"}


def run(options: Namespace) -> int:
    """Print one rule or all of them; an unknown name is a UsageError."""
    known = entries()
    chosen = known if options.all else (_find(options.rule, known),)
    if options.output_format == "json":
        import json

        objects = [_as_object(entry) for entry in chosen]
        print(json.dumps(objects if options.all else objects[0], indent=2))
        return 0
    paint = paint_for(sys.stdout)
    if options.all:
        _print_table(chosen, paint)
    else:
        _print_text(chosen[0], paint)
    return 0


def _find(wanted: str, known: Sequence[RuleEntry]) -> RuleEntry:
    for entry in known:
        if wanted.upper() == entry.code or wanted.lower() == entry.name:
            return entry
    from difflib import get_close_matches

    names = [word for entry in known for word in (entry.code, entry.name)]
    close = get_close_matches(wanted, names, n=1)
    meant = f"; did you mean `{close[0]}`?" if close else ""
    raise UsageError(f"there is no rule `{wanted}`{meant} (`llm-lint rule --all` lists them)")


def _as_object(entry: RuleEntry) -> dict[str, Any]:
    return {
        "code": entry.code,
        "name": entry.name,
        "severity": entry.severity.value,
        "default": entry.default,
        "fix": entry.fix,
        "explanation": explanation(entry),
    }


def _print_table(chosen: Sequence[RuleEntry], paint: Paint) -> None:
    width = max(len(entry.name) for entry in chosen)
    for entry in chosen:
        severity = entry.severity.value
        first, _, _ = explanation(entry).partition("\n")
        state = f"{severity:11}" if entry.default else f"{'off':11}"
        print(f"{paint('code', entry.code)} {entry.name:{width}} {paint(severity, state)} {first}")


def _print_text(entry: RuleEntry, paint: Paint) -> None:
    severity = entry.severity.value
    print(f"{paint('code', entry.code)} {paint('code', entry.name)}")
    state = "on by default" if entry.default else "off by default"
    print(f"{paint(severity, severity)}, {state}, {_FIXES[entry.fix]}")
    page = rule_page(entry.name)
    if page:
        print(page)
    print()
    print(explanation(entry))
