"""`AutoModelForCausalLM.from_pretrained("org/name")`: the model from its config alone, on the meta device."""

from __future__ import annotations

import functools
import importlib
import inspect
import time
from collections.abc import Callable, Mapping

import torch
from torch import nn

from .arguments import Recipe
from .configs import Assumption, Notes
from .containers import dictionary
from .describing import shapes_text, typed_text
from .input_sizes import Axis, SizeChoice
from .inputs import Candidate, Makes, Plain, Spec
from .recording import Progress
from .running import FAKE_META, META, Failure, Model, Ran, Runner, silence_torch
from .totals import Cost, run_counted

Outcome = dict[str, object]
Emit = Callable[[dict[str, object]], None]
NOBODYS = "<no file of the user's>"


class NoConfigError(Exception):
    """No config of this checkpoint is on this machine."""


def check_checkpoint(request: Mapping[str, object], target: Mapping[object, object], emit: Emit) -> Outcome:
    """Makes the model of a `from_pretrained` call from its config, and runs it on the meta device."""
    started = time.process_time()
    silence_torch()
    name = str(target.get("checkpoint"))
    head: dict[str, object] = {"target": dict(target), "method": META, "confirmed": False, "notices": []}
    try:
        importlib.import_module("transformers")
    except ImportError:
        return {"status": "missing_package", "result": {**head, "missing": ["transformers"]}}
    runner = Runner(NOBODYS, lambda stage, progress: emit(progress_event(stage, progress)))
    try:
        config = config_of(name, dictionary(target.get("config")))
        recipe = Recipe("config", functools.partial(from_config, str(target.get("class")), config))
    except NoConfigError as error:
        return {"status": "unsupported", "result": {**head, "problem": str(error)}}
    done, counts = run(runner, recipe, config)
    if isinstance(done, Failure):
        problem = f"the model of `{name}` does not run on the meta device: {done.explained.message}"
        return {"status": "unsupported", "result": {**head, "problem": problem}}
    source = "config" if target.get("config") is not None else "local"
    cost = Cost(done.model.module, is_decoder="CausalLM" in str(target.get("class")))
    result = {
        **head,
        "assumptions": [
            {"what": "config", "value": name, "source": source},
            *({"what": each.what, "value": each.value, "source": each.source} for each in done.candidate.assumptions),
        ],
        "inputs": {key: typed_text(value) for key, value in done.inputs[1].items()},
        "outputs": shapes_text(done.output),
        "rows": done.recorder.as_rows({}, "", counts),
        "totals": cost.as_value(counts.get("")),
        "shapes": [],
        "timing": {"cpu_s": round(time.process_time() - started, 3)},
    }
    return {"status": "ok", "result": result}


def progress_event(stage: str, progress: Progress) -> dict[str, object]:
    return {"event": "progress", "stage": stage, "done": progress.done, "total": progress.total}


def config_of(name: str, known: Mapping[object, object] | None) -> object:
    """The config that is known, or the one on this machine.

    Raises:
        NoConfigError: There is none, or this release of transformers doesn't know its kind.
    """
    auto = getattr(importlib.import_module("transformers"), "AutoConfig")  # noqa: B009  lazily made
    try:
        if known is not None:
            fields = {str(key): value for key, value in known.items()}
            return auto.for_model(str(fields.pop("model_type", "")), **fields)
        return auto.from_pretrained(name)
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        raise NoConfigError(f"no config of `{name}` can be read here: {first}") from error


def from_config(class_name: str, config: object, notes: Notes, shrunk: bool) -> nn.Module:
    made = getattr(importlib.import_module("transformers"), class_name)
    make = getattr(made, "from_config", None) or getattr(made, "_from_config", made)
    model = make(config)
    if not isinstance(model, nn.Module):
        raise TypeError(f"`{class_name}` makes no model")
    return model


def run(runner: Runner, recipe: Recipe, config: object) -> tuple[Ran | Failure, dict[str, int]]:
    """On the meta device; once more in bfloat16, since some kernels of mixtures of experts take nothing else."""
    done, counts = attempt(runner, recipe, config)
    if isinstance(done, Ran):
        return done, counts
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.bfloat16)
    try:
        return attempt(runner, recipe, config)
    finally:
        torch.set_default_dtype(before)


def attempt(runner: Runner, recipe: Recipe, config: object) -> tuple[Ran | Failure, dict[str, int]]:
    model = runner.make(recipe, FAKE_META)
    if not isinstance(model, Model):
        return model, {}
    return run_counted(runner, model, inputs_of(model.module, config), SizeChoice())


def inputs_of(model: nn.Module, config: object) -> Candidate:
    """The main input by its name, with sizes of the config; the decoder's tokens where there is a decoder."""
    parameters = inspect.signature(model.forward).parameters
    main = str(getattr(model, "main_input_name", "input_ids"))
    text = getattr(config, "text_config", None) or config
    named: dict[str, Makes] = {}
    notes: list[Assumption] = []

    def add(name: str, spec: Spec) -> None:
        named[name] = spec
        notes.append(Assumption(name, f"{spec.kind}[{', '.join(map(str, spec.axes))}]", "config"))

    wanted = [main]
    if getattr(config, "text_config", None) is not None and getattr(config, "vision_config", None) is not None:
        wanted = ["input_ids", "pixel_values"]
    for name in wanted:
        if name in parameters:
            add(name, Spec(*kind_and_axes(name, config), below=number(text, "vocab_size", 100)))
    if getattr(config, "is_encoder_decoder", False) and "decoder_input_ids" in parameters:
        add("decoder_input_ids", Spec("ids", ("batch", "length"), number(config, "vocab_size", 100)))
    if "use_cache" in parameters:
        named["use_cache"] = Plain(value=False)
    return Candidate((), named, tuple(notes), trusted=True)


def kind_and_axes(name: str, config: object) -> tuple[str, tuple[Axis, ...]]:
    vision = getattr(config, "vision_config", None) or config
    if name == "pixel_values":
        side = number(vision, "image_size", 224)
        return "float", ("batch", number(vision, "num_channels", 3), side, side)
    if name == "input_features":
        frames = 2 * number(config, "max_source_positions", 1500)
        return "float", ("batch", number(config, "num_mel_bins", 80), frames)
    if name == "input_values":
        return "float", ("batch", 16000)
    if name in ("inputs_embeds", "hidden_states"):
        return "float", ("batch", "length", number(config, "hidden_size", 64))
    return "ids", ("batch", "length")


def number(config: object, name: str, default: int) -> int:
    found = getattr(config, name, None)
    if isinstance(found, (list, tuple)):
        found = next((each for each in found if isinstance(each, int)), None)  # pyright: ignore[reportUnknownVariableType]
    return found if isinstance(found, int) else default
