"""Whose fault a failure is: the program's, or that of a guess. In doubt it is the guess.

A failure is the program's only if a real run confirms it and nothing that was guessed could be its cause: the arguments
of the constructor and the kinds of the inputs rest on the code, the inputs got through at least one layer, every other
choice of free sizes fails in the same place, and the sizes that clash either all come from the code or all move along
with the free ones.
"""

from __future__ import annotations

from typing import NamedTuple

from .clashes import agree, clashing_sizes
from .errors import BEFORE_INIT
from .running import REAL, Failure
from .searching import Found
from .wording import Operation

PROGRAM_ERRORS = ("NameError", "UnboundLocalError")
SHAPE_ERRORS = ("RuntimeError", "IndexError", "ValueError", "EinopsError", "TorchRuntimeError")


class Verdict(NamedTuple):
    """The failure to be shown, and what it is."""

    failure: Failure
    is_error: bool
    confirmed: bool


def verdict(found: Found) -> Verdict | None:
    """What a recipe's failures come to; None if there are none."""
    best = furthest(found.failures)
    if best is None:
        return None
    alike = [each for each in found.failures if each.candidate is best.candidate and each.stage == best.stage]
    real = [each for each in alike if each.mode == REAL]
    shown = real[0] if real else best
    ran_for_real = any(each.mode == REAL for each in found.failures)
    is_error = (bool(real) or not ran_for_real) and not shown.is_of_the_mode and is_programs(found, shown, alike)
    return Verdict(shown, is_error, confirmed=bool(real))


def furthest(failures: list[Failure]) -> Failure | None:
    """The failure that came furthest: in `forward` rather than in the constructor, after the most layers."""
    usable = [each for each in failures if not each.is_of_the_mode] or failures
    return max(usable, key=lambda each: (each.stage == "forward", each.finished, each.mode == REAL), default=None)


def is_programs(found: Found, failure: Failure, alike: list[Failure]) -> bool:
    explained = failure.explained
    if BEFORE_INIT in str(failure.error) and explained.frames:
        # Whatever the arguments are.
        return True
    if found.is_refuted or (found.is_partial and failure.explained.kind in PROGRAM_ERRORS):
        return False
    if not explained.frames or (explained.is_raised_by_user and not is_users(found, failure)):
        return False
    if failure.stage == "construct":
        return found.recipe.trusted and is_of_shapes_or_names(failure) and found.recipe.source != "default"
    if not arguments_are_known(found, failure):
        return False
    if is_users(found, failure):
        return True
    candidate = failure.candidate
    if candidate is None or not candidate.trusted or not is_of_shapes_or_names(failure):
        return False
    if explained.kind in PROGRAM_ERRORS:
        return True
    return failure.finished > 0 and is_independent_of_sizes(failure, alike)


def is_users(found: Found, failure: Failure) -> bool:
    """The user wrote both the arguments and the inputs, or a call in the file has them."""
    sources = {each.source for each in (failure.candidate.assumptions if failure.candidate else ())}
    return (
        found.recipe.trusted
        and bool(sources)
        and sources <= {"user", "callsite"}
        and failure.explained.kind != "NotPlainError"
    )


def arguments_are_known(found: Found, failure: Failure) -> bool:
    """Nothing of the constructor's arguments hangs on a relation that only their author knows."""
    if found.recipe.trusted:
        return True
    notes = failure.notes
    return notes is not None and notes.guesses == 0 and len(notes.widths) <= 1


def is_of_shapes_or_names(failure: Failure) -> bool:
    if failure.explained.kind in PROGRAM_ERRORS:
        return True
    if failure.failed is not None and failure.explained.operation is not None:
        # An operation got something that is no tensor where it wants one: mostly an argument we left out.
        return None not in failure.failed.arguments[:1] and failure.explained.kind in (*SHAPE_ERRORS, "TypeError")
    return failure.explained.kind in SHAPE_ERRORS and "unpack" in str(failure.error)


def fail_alike(guessed: list[Found]) -> bool:
    """Whether a class fails in one way with every table of numbers, and no guessed size clashes with a fixed one."""
    failures = [each for each in (furthest(found.failures) for found in guessed) if each is not None]
    if len(failures) < 2 or len({each.signature for each in failures}) > 1:
        return False
    if any(each.failed is None for each in failures):
        return True
    return agree(
        [clashing_sizes(Operation(*each.failed[1:])) if each.failed is not None else None for each in failures]
    )


def is_independent_of_sizes(failure: Failure, alike: list[Failure]) -> bool:
    others = [each for each in alike if each.stage == "forward" and not each.is_of_the_mode]
    if {each.signature for each in others} != {failure.signature}:
        return False
    if failure.failed is None:
        # Shapes are taken apart in Python: how many axes there are does not hang on their sizes.
        return True
    return agree([clashing_sizes(Operation(*each.failed[1:])) if each.failed is not None else None for each in others])
