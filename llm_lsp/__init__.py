"""llm-lint: finds the faults in LLM code that raise nothing."""

from __future__ import annotations

__version__ = "0.1.0"

RULE_PAGES = ""
"""The address of the pages on rules, up to the rule's name; empty while they are published nowhere."""


def rule_page(name: str) -> str | None:
    """The address of the page on the rule of this name."""
    return f"{RULE_PAGES}{name}" if RULE_PAGES else None
