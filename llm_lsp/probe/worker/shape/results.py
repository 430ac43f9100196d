"""Results as plain values, in the words of the protocol."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import NamedTuple

from .clashes import have_mixed_dtypes
from .classes import ModuleClass
from .configs import Assumption
from .containers import mapped
from .deciding import Verdict, verdict
from .describing import shapes_text, tensors_in, typed_text
from .importing import MissingPackageError, UserModule
from .inputs import IDS, MASKS, TIMES
from .oracles import Oracles, Suspicion
from .recording import parameters_of
from .running import REAL, Failure, Model, Ran, Runner
from .searching import LARGE, Found
from .suspicions import attentions, broadcasts, vocabulary
from .totals import Cost, count_flops
from .wording import Operation

Emit = Callable[[dict[str, object]], None]
LARGEST_FOR_ORACLES = 40_000_000
MOST_FLOPS = 20_000_000_000
"""Above this a real run takes seconds, and the oracles want several."""
LONGEST_FOR_ORACLES = 1.5
"""CPU seconds of a run: not every model has its operations counted."""


class Context(NamedTuple):
    """What all results of one request share."""

    user: UserModule
    classes: Mapping[str, ModuleClass]
    runner: Runner
    emit: Emit
    timing: Callable[[], Mapping[str, float]]


class Report:
    """The result of one class."""

    def __init__(self, context: Context, name: str, via: str | None, found: Found, *, is_decoder: bool) -> None:
        self.user = context.user
        self.runner = context.runner
        self.emit = context.emit
        self.timing = context.timing
        self.lines = {each.name: each.node.lineno for each in context.classes.values()}
        self.name = name
        self.via = via
        self.found = found
        self.is_decoder = is_decoder
        self.notices: list[dict[str, object]] = []
        self.flops: dict[str, int] = {}
        self.cost: Cost | None = None
        self.confirmed = False

    # ------------------------------------------------------------ a run that worked

    def finished(self) -> dict[str, object]:
        """The shapes at once, then what a real run shows; FLOPs with the shapes where these come from the meta device."""
        ran = self.found.ran
        if ran is None:
            raise ValueError("nothing ran")
        self.confirmed = ran.mode == REAL
        self.look_at_sizes(ran)
        if self.found.portability is not None:
            self.note_portability(self.found.portability)
        self.flops = self.found.flops or {}
        self.emit({"event": "result", "result": self.result(ran)})
        if self.found.flops is None and ran.mode != REAL:
            self.flops, on_meta = count_flops(self.runner, self.found.recipe, ran)
            if isinstance(on_meta, Failure) and not on_meta.is_of_the_mode and self.found.portability is None:
                self.note_portability(on_meta)
        model = self.real_model(ran)
        if model is None:
            return {"status": "ok", "result": self.result(ran)}
        done = ran if ran.mode == REAL else self.runner.run(model, ran.candidate, ran.choice)
        if isinstance(done, Failure):
            return self.failed_for_real(ran, model, done)
        self.confirmed = True
        self.ask_oracles(ran, model)
        return {"status": "ok", "result": self.result(ran)}

    def failed_for_real(self, ran: Ran, model: Model, failure: Failure) -> dict[str, object]:
        """What abstract execution let pass: clashes of dtypes, and indices that are out of range."""
        other = ran.choice._replace(batch=5, length=max(ran.choice.length - 2, 1))
        again = self.runner.run(model, ran.candidate, other)
        failures = [failure, again._replace(candidate=failure.candidate)] if isinstance(again, Failure) else [failure]
        own = verdict(Found(self.found.recipe, None, failures))
        of_dtypes = failure.failed is not None and have_mixed_dtypes(Operation(*failure.failed[1:]))
        if own is not None and own.is_error and len(failures) > 1 and (of_dtypes or not model.shrunk):
            self.confirmed = True
            value = failure.explained.as_value()
            return {"status": "user_error", "result": {**self.result(ran), "method": REAL, "error": value}}
        self.notices.append({"kind": "unconfirmed", "message": failure.explained.message, "file": None, "line": None})
        return {"status": "ok", "result": self.result(ran)}

    def look_at_sizes(self, ran: Ran) -> None:
        if ran.choice.said:
            self.note_sizes(ran)
        # What comes of an input that may be another one says little.
        found = broadcasts(ran.operations.broadcasts) if ran.candidate.trusted else []
        found += attentions(ran.operations.attentions, ran.choice.length)
        if self.is_decoder and is_of_one_sequence(ran):
            self.suspect(vocabulary(ran))
        for suspicion in found:
            self.suspect(suspicion)

    def note_sizes(self, ran: Ran) -> None:
        """The first choice of sizes failed: where, and what works instead."""
        first = next((each for each in self.found.failures if each.candidate is ran.candidate), None)
        place = first.explained.place if first is not None else None
        if first is None or place is None:
            return
        message = f"{ran.choice.said}: {first.explained.message}"
        self.notices.append({"kind": "sizes", "message": message, "file": place[0], "line": place[1]})

    def ask_oracles(self, ran: Ran, model: Model) -> None:
        try:
            oracles = Oracles(model, ran.candidate, ran.choice, self.runner.root, self.user.text)
            if oracles.seconds <= LONGEST_FOR_ORACLES and oracles.is_steady():
                self.suspect(oracles.samples_mix())
                if self.is_decoder and is_of_one_sequence(ran):
                    self.suspect(oracles.future_is_seen())
        except Exception:  # noqa: BLE001  a changed input may be one that the model refuses; then there is no evidence
            return

    def real_model(self, ran: Ran) -> Model | None:
        """A model that is small enough to run several times for real; None where there is none."""
        if (self.flops.get("") or 0) > MOST_FLOPS or not tensors_in([*ran.inputs[0], *ran.inputs[1].values()]):
            return None
        if ran.mode == REAL:
            return ran.model
        model = self.runner.make(self.found.recipe, REAL, shrunk=parameters_of(ran.model.module) > LARGE)
        return model if isinstance(model, Model) and parameters_of(model.module) <= LARGEST_FOR_ORACLES else None

    def suspect(self, suspicion: Suspicion | None) -> None:
        if suspicion is None:
            return
        place = suspicion.place
        self.notices.append(
            {
                "kind": suspicion.kind,
                "message": suspicion.message,
                "file": place.file if place is not None else self.user.path,
                "line": place.line if place is not None else self.line,
            }
        )

    def note_portability(self, failure: Failure) -> None:
        place = failure.explained.place
        if place is None or failure.is_of_the_mode:
            return
        message = f"works on a CPU, not on every device: {failure.explained.message}"
        self.notices.append({"kind": "portability", "message": message, "file": place[0], "line": place[1]})

    @property
    def line(self) -> int | None:
        return self.lines.get(self.via or self.name)

    def result(self, ran: Ran) -> dict[str, object]:
        """All that is known so far."""
        rows = ran.recorder.as_rows(self.lines, self.user.path, self.flops)
        inputs = {
            **dict(zip(self.input_names(ran), ran.inputs[0], strict=False)),
            **ran.inputs[1],
        }
        assumptions = [*ran.model.notes.assumptions, *ran.candidate.assumptions]
        if self.cost is None:
            self.cost = Cost(ran.model.module, is_decoder=self.is_decoder)
        return {
            **self.head(ran.mode, assumptions),
            "inputs": {name: typed_text(value) for name, value in inputs.items()},
            "outputs": shapes_text(ran.output),
            "rows": rows,
            "totals": self.cost.as_value(self.flops.get("")),
            "shapes": [{"file": self.user.path, **each._asdict()} for each in ran.assigned],
        }

    def head(self, mode: str, assumptions: list[Assumption]) -> dict[str, object]:
        found: dict[str, object] = {
            "target": self.name,
            "method": mode,
            "confirmed": self.confirmed,
            "assumptions": [as_value(each) for each in (*self.of_the_file(), *assumptions)],
            "notices": self.notices,
            "timing": dict(self.timing()),
        }
        if self.via is not None:
            found["via"] = self.via
        if self.user.missing:
            found["missing"] = list(self.user.missing)
        return found

    def of_the_file(self) -> list[Assumption]:
        """What was made up because the file can't be imported as a whole."""
        return [Assumption(name, repr(value), "name") for name, value in self.user.guessed.items()]

    def input_names(self, ran: Ran) -> list[str]:
        try:
            return list(inspect.signature(ran.model.module.forward).parameters)
        except (TypeError, ValueError):
            return [str(index) for index in range(len(ran.inputs[0]))]

    # ------------------------------------------------------------ a run that failed

    def failed(self, own: Verdict) -> dict[str, object]:
        """An error of the program."""
        self.confirmed = own.confirmed
        value = own.failure.explained.as_value()
        if not own.confirmed:
            value["message"] = f"{value['message']} (by abstract execution)"
        return {"status": "user_error", "result": {**self.attempt(own.failure), "error": value}}

    def without_arguments(self, own: Verdict | None) -> dict[str, object]:
        """Nothing ran, and it may well be for want of the right arguments."""
        failures = self.found.failures
        missing = next((each.error.package for each in failures if isinstance(each.error, MissingPackageError)), None)
        if missing is not None:
            problem = next(str(each.error) for each in failures if isinstance(each.error, MissingPackageError))
            head = self.attempt(own.failure if own is not None else None)
            return {"status": "missing_package", "result": {**head, "missing": [missing], "problem": problem}}
        result = self.attempt(own.failure if own is not None else None)
        result["paste"] = self.paste(mapped(result["inputs"]) or {})
        result["problem"] = self.problem(own)
        return {"status": "needs_args", "result": result}

    def problem(self, own: Verdict | None) -> str:
        if own is None:
            return f"no way is known to make `{self.name}`"
        explained = own.failure.explained
        where = f" at line {explained.place[1]}" if explained.place is not None else ""
        what = "can't be made" if own.failure.stage == "construct" else "does not run"
        whose = "these" if self.found.recipe.source == "user" else "guessed"
        return f"`{self.name}` {what} with {whose} arguments: {explained.message}{where}"

    def attempt(self, failure: Failure | None) -> dict[str, object]:
        assumptions: list[Assumption] = []
        inputs: dict[str, str] = {}
        if failure is not None:
            assumptions = [
                *(failure.notes.assumptions if failure.notes else ()),
                *(failure.candidate.assumptions if failure.candidate else ()),
            ]
            inputs = {
                name: typed_text(value)
                for name, value in zip(self.names_of_inputs(failure), failure.inputs, strict=False)
            }
        head = self.head(failure.mode if failure is not None else "fake", assumptions)
        return {**head, "inputs": inputs, "rows": [], "shapes": []}

    def names_of_inputs(self, failure: Failure) -> list[str]:
        """Those by position have the names of the parameters of `forward`, as far as it has any."""
        named = list(failure.candidate.named) if failure.candidate is not None else []
        by_position = len(failure.inputs) - len(named)
        forward = getattr(self.user.namespace.get(self.via or self.name), "forward", None)
        try:
            parameters = list(inspect.signature(forward).parameters.values()) if callable(forward) else []
        except (TypeError, ValueError):
            parameters = []
        names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        names = names[1 : by_position + 1]
        return [*names, *map(str, range(len(names), by_position)), *named]

    def paste(self, tried: Mapping[object, object]) -> str:
        """A comment to be completed by the user, with the inputs that came furthest."""
        made = self.user.namespace.get(self.name)
        constructor = names_of(getattr(made, "__init__", None), skip_self=True)
        forward = names_of(getattr(made, "forward", None), skip_self=True)
        given = ", ".join(f"{name}=..." for name in constructor)
        inputs = ", ".join(f"{name}={likely_input(name, tried.get(name))}" for name in forward)
        return f"# probe: {self.name}({given})({inputs})"


def is_of_one_sequence(ran: Ran) -> bool:
    """A second sequence of tokens is one that may be seen whole."""
    tensors = tensors_in([*ran.inputs[0], *ran.inputs[1].values()])
    return sum(tensor.dim() > 1 and not tensor.is_floating_point() for tensor in tensors) == 1


def likely_input(name: str, tried: object) -> str:
    """An input in the words of a comment: the one that was tried, or one by its name if the model could not be made."""
    if isinstance(tried, str) and tried.endswith("]") and "[" in tried[1:]:
        return tried
    if MASKS.fullmatch(name):
        return "bool[2,16]"
    if TIMES.fullmatch(name):
        return "int[2]"
    return "int[2,16]" if IDS.fullmatch(name) or name.endswith("_ids") else "float[2,16,64]"


def names_of(function: object, *, skip_self: bool) -> list[str]:
    if not callable(function):
        return []
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []
    return [
        each.name
        for each in parameters[1 if skip_self else 0 :]
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]


def as_value(assumption: Assumption) -> dict[str, object]:
    found: dict[str, object] = {"what": assumption.what, "value": assumption.value, "source": assumption.source}
    if assumption.line is not None:
        found["line"] = assumption.line
    return found
