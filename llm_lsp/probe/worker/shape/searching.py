"""The search for a run that works: ways to make the model, calls of `forward`, sizes; and in which mode."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from torch import nn

from .arguments import Recipe
from .clashes import clashing_sizes
from .expressions import Evaluator
from .given import example_call, written_call
from .input_sizes import Declared, SizeChoice, declared_sizes, other_choices, prime_choice
from .inputs import Candidate, candidates, smallest_vocabulary
from .recording import parameters_of
from .running import FAKE, META, REAL, Failure, Model, Ran, Runner
from .totals import run_counted
from .user_calls import UserCall
from .wording import Operation

LARGE = 5_000_000
"""Parameters above which a real run uses shrunk sizes."""
TOO_LARGE = 250_000_000
"""Parameters above which nothing is run for real."""
MOST_PROMISING = 3
LONGEST_TRIED = 4096


class Found(NamedTuple):
    """A recipe that ran, or the failures of one that did not."""

    recipe: Recipe
    ran: Ran | None
    failures: list[Failure]
    """In the order in which they happened; those of the real mode confirm or refute the others."""
    portability: Failure | None = None
    """What failed in an abstract mode and works for real."""
    is_partial: bool = False
    """Only definitions of the file were run: a name that is missing says nothing."""
    is_refuted: bool = False
    """With other numbers for what was guessed the recipe fails otherwise: the guess is at fault."""
    flops: dict[str, int] | None = None
    """By module, where they were counted on the way."""


class Search:
    """Tries one recipe."""

    def __init__(self, runner: Runner, namespace: dict[str, object]) -> None:
        self.runner = runner
        self.namespace = namespace

    def try_recipe(self, recipe: Recipe, asked: UserCall | None) -> Found:
        """Runs the recipe with what its inputs may be."""
        return self.at_once(recipe, asked) or self.step_by_step(recipe, asked)

    def at_once(self, recipe: Recipe, asked: UserCall | None) -> Found | None:
        """The likeliest call on the meta device, where FLOPs are counted too; what works there needs no other run.

        That it fails says nothing: some of its kernels are stricter than those of any real device.
        """
        model = self.runner.make(recipe, META)
        if not isinstance(model, Model):
            return None
        first = prime_choice(declared_sizes(model.module, self.namespace))
        for candidate in self.calls(recipe, model.module, asked)[:1]:
            ran, flops = run_counted(self.runner, model, candidate, first)
            if isinstance(ran, Ran):
                return Found(recipe, ran, [], flops=flops)
        return None

    def step_by_step(self, recipe: Recipe, asked: UserCall | None) -> Found:
        """All calls and sizes, in one mode after the other."""
        failures: list[Failure] = []
        for mode in (FAKE, META, REAL):
            model = self.made(recipe, mode)
            if isinstance(model, Model):
                found = self.try_model(recipe, model, asked)
                if found.ran is not None or mode == REAL or not any(each.is_of_the_mode for each in found.failures):
                    return self.confirmed(recipe, found._replace(failures=failures + found.failures))
                failures += found.failures
            elif model is not None:
                failures.append(model)
                if not model.is_of_the_mode and mode != REAL:
                    # Only the real run tells; another abstract one would say the same.
                    real = self.made(recipe, REAL)
                    if isinstance(real, Model):
                        found = self.try_model(recipe, real, asked)
                        return found._replace(
                            failures=failures + found.failures, portability=model if found.ran else None
                        )
                    return Found(recipe, None, failures if real is None else [*failures, real])
        return Found(recipe, None, failures)

    def made(self, recipe: Recipe, mode: str) -> Model | Failure | None:
        """The model; None where it is too large for this mode."""
        if mode != REAL:
            return self.runner.make(recipe, mode)
        shrunk = False
        abstract = self.runner.make(recipe, META)
        if isinstance(abstract, Model) and parameters_of(abstract.module) > LARGE:
            shrunk = True
            smaller = self.runner.make(recipe, META, shrunk=True)
            if not isinstance(smaller, Model) or parameters_of(smaller.module) > TOO_LARGE:
                return None
        return self.runner.make(recipe, REAL, shrunk=shrunk)

    def calls(self, recipe: Recipe, model: nn.Module, asked: UserCall | None) -> list[Candidate]:
        """The calls to try: the user's alone if there is one, else one of the file, then what the code suggests."""
        fill = smallest_vocabulary(model)
        if asked is not None and asked.forward is not None:
            return [written_call(asked.forward, Evaluator(self.namespace, {}, fill=fill), "user", asked.line)]
        example = example_call(self.namespace.get("example_inputs"))
        given = [] if example is None else [example]
        site = recipe.site
        if site is not None and site.forward is not None:
            evaluator = Evaluator(self.namespace, site.local, namespace_first=not site.in_function, fill=fill)
            given.append(written_call(site.forward, evaluator, "callsite", site.forward.lineno))
        return [*given, *candidates(model)]

    def try_model(self, recipe: Recipe, model: Model, asked: UserCall | None) -> Found:
        failures: list[Failure] = []
        declared = declared_sizes(model.module, self.namespace)
        first = prime_choice(declared)
        for candidate in self.calls(recipe, model.module, asked):
            ran = self.runner.run(model, candidate, first)
            if isinstance(ran, Ran):
                return Found(recipe, ran, failures)
            failures.append(ran)
        return Found(recipe, self.with_other_sizes(model, failures, declared, first), failures)

    def with_other_sizes(
        self, model: Model, failures: list[Failure], declared: Declared, first: SizeChoice
    ) -> Ran | None:
        """The most promising calls again, with declared and usual sizes; failures are added to the list."""
        for failure in most_promising(failures):
            candidate = failure.candidate
            if candidate is None or failure.is_of_the_mode:
                continue
            for choice in [*suggested_choices(failure, declared, first), *other_choices(declared, first)]:
                if not changes(candidate, choice, first):
                    continue
                ran = self.runner.run(model, candidate, choice)
                if isinstance(ran, Ran):
                    return ran
                failures.append(ran)
        return None

    def confirmed(self, recipe: Recipe, found: Found) -> Found:
        """Failures of an abstract mode, tried for real: only that tells."""
        if found.ran is not None or not found.failures or found.failures[-1].mode == REAL:
            return found
        real = self.made(recipe, REAL)
        if real is None:
            return found
        if isinstance(real, Failure):
            return found._replace(failures=[*found.failures, real])
        failures = list(found.failures)
        for failure in most_promising(found.failures):
            if failure.candidate is None or failure.choice is None:
                continue
            ran = self.runner.run(real, failure.candidate, failure.choice)
            if isinstance(ran, Ran):
                return Found(recipe, ran, failures, portability=failure)
            failures.append(ran)
        return found._replace(failures=failures)


def most_promising(failures: Iterable[Failure]) -> list[Failure]:
    """Those that came furthest, one for each call."""
    by_call: dict[int, Failure] = {}
    for failure in failures:
        if failure.candidate is not None:
            best = by_call.get(id(failure.candidate))
            if best is None or failure.finished > best.finished:
                by_call[id(failure.candidate)] = failure
    return sorted(by_call.values(), key=lambda each: -each.finished)[:MOST_PROMISING]


def suggested_choices(failure: Failure, declared: Declared, first: SizeChoice) -> list[SizeChoice]:
    """The lengths that the code has where ours clashed with it; a number of heads is none."""
    if failure.failed is None or failure.failed.name in ("view", "reshape"):
        return []
    pairs = clashing_sizes(Operation(*failure.failed[1:]))
    others = [b if a == first.length else a for a, b in pairs or () if first.length in (a, b)]
    return [
        first._replace(length=each, said=f"works with a length of {each}, not of {first.length}")
        for each in dict.fromkeys(others)
        if 0 < each <= LONGEST_TRIED and each not in declared.heads
    ]


def changes(candidate: Candidate, choice: SizeChoice, first: SizeChoice) -> bool:
    """Whether another choice of sizes makes other inputs."""
    return any(
        candidate.has(axis) and choice.size(axis) != first.size(axis) for axis in ("batch", "length", "side", "samples")
    )
