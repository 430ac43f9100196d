"""What the names that a program imports say of the versions of a library."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.versions import Requirement, normalised

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.source import Source

__all__ = ["requirement_by_names", "requires"]


def requires(facts: Facts, distribution: str, specifier: str) -> Truth:
    """Whether every version that the project works with lies in `specifier`; UNKNOWN where nothing says."""
    requirement = facts.world.version(distribution)
    if requirement is not None:
        return answer(YES if requirement.is_within(specifier) else NO)
    named = requirement_by_names(facts.source, distribution)
    if named is None or (named.admits(specifier) and not named.is_within(specifier)):
        return answer(UNKNOWN)
    return answer(YES if named.is_within(specifier) else NO)


def requirement_by_names(source: Source, distribution: str) -> Requirement | None:
    """The releases that have every name that the module imports from a library, whatever happens.

    None where that excludes no release that we know, or all of them.
    """
    bounds: dict[str, str] = {}
    for statement in source.tree.body:
        # An import under `try` or `if` says that the program works without it.
        module = statement.module if isinstance(statement, ast.ImportFrom) and not statement.level else None
        if module and normalised(module.partition(".")[0]) == normalised(distribution):
            bounds |= _bounds(module, cast("ast.ImportFrom", statement))
    if not bounds:
        return None
    found = Requirement((",".join(bounds),), f"{', '.join(f'`{name}`' for name in bounds.values())} in the code")
    return found if found.admits("") else None


def _bounds(module: str, statement: ast.ImportFrom) -> dict[str, str]:
    """By the bound that it sets, a name."""
    from llm_lsp.knowledge.signatures import releases_with

    found: dict[str, str] = {}
    for alias in statement.names:
        specifier = releases_with(f"{module}.{alias.name}")
        for bound in specifier.split(",") if specifier is not None else ():
            found[bound] = alias.name
    return found
