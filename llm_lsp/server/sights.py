"""What the facts know where a model is called, for hovers and inlay hints."""

from __future__ import annotations

import ast
from typing import NamedTuple

from llm_lsp.diagnostic import Location, Position, Range
from llm_lsp.facts import NO, UNKNOWN, YES, Call, Facts, Truth

__all__ = ["ModelRun", "model_runs"]


class ModelRun(NamedTuple):
    """A call that makes a model compute; what is not known, or differs between its callers, is None."""

    callee: str
    location: Location
    """Of what is called, as it is written."""
    end: Location
    """The empty place after the call."""
    gradients: bool | None
    evaluation: bool | None
    autocast: bool | None
    dtype: str | None
    checkpoint: str | None

    def said(self) -> list[str]:
        """What is known, in words."""
        said = [
            f"loaded from `{self.checkpoint}`" if self.checkpoint else None,
            {True: "in evaluation mode", False: "in training mode"}.get(self.evaluation)
            if self.evaluation is not None
            else None,
            self.gradient_words,
            self.precision_words,
        ]
        return [each for each in said if each]

    @property
    def gradient_words(self) -> str | None:
        """Whether torch records operations here."""
        return None if self.gradients is None else "gradients on" if self.gradients else "gradients off"

    @property
    def precision_words(self) -> str | None:
        """In what the model computes here."""
        return "autocast" if self.autocast else self.dtype


def model_runs(facts: Facts) -> tuple[ModelRun, ...]:
    """The calls of models in a file, each once."""
    found: dict[ast.AST, ModelRun] = {}
    for call in facts.runs_of_models():
        node = call.record.node
        run = _run(facts, call)
        if run is not None:
            before = found.get(node)
            found[node] = run if before is None else _agreed(before, run)
    return tuple(found.values())


def _run(facts: Facts, call: Call) -> ModelRun | None:
    node = call.record.node
    if not isinstance(node, ast.Call):
        return None
    end = call.place.range.end
    dtypes = {choice.value for choice in call.states("dtype")}
    model = call.model
    return ModelRun(
        call.callee,
        facts.source.locate(facts.source.range_of(node.func)),
        facts.source.locate(Range(Position(end.row, end.column), end)),
        _known(call.gradients),
        _known(call.is_in_evaluation_mode),
        _known(call.autocast),
        str(next(iter(dtypes))).removeprefix("torch.") if len(dtypes) == 1 else None,
        model.name if model is not None and len(model.names) == 1 else None,
    )


def _known(truth: Truth) -> bool | None:
    if truth is UNKNOWN:
        return None
    return truth is YES if truth in (YES, NO) else None


def _agreed(one: ModelRun, other: ModelRun) -> ModelRun:
    """What two chains of callers agree on."""
    return one._replace(
        gradients=one.gradients if one.gradients is other.gradients else None,
        evaluation=one.evaluation if one.evaluation is other.evaluation else None,
        autocast=one.autocast if one.autocast is other.autocast else None,
        dtype=one.dtype if one.dtype == other.dtype else None,
        checkpoint=one.checkpoint if one.checkpoint == other.checkpoint else None,
    )
