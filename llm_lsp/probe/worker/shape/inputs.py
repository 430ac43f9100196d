"""What `forward` can be called with: from annotations, from what the code does with its parameters, from their names."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple, Protocol

import torch
from torch import nn

from .annotations import annotated_axes
from .configs import Assumption
from .evidence import Evidence, of_module, of_parameter
from .input_sizes import Axis, SizeChoice, declared_numbers
from .sizes import role_of

IDS = re.compile(
    r"(decoder_)?(input_?)?_?(ids?|idx|in_idx|tokens?|token_ids|indices|input_tokens|x_ids|seqs?|prompt(_ids)?|input_seq)"
    r"|(src|tgt|source|target|trg)(_(ids|tokens|seq))?|input_ids|labels?|targets?|y|token_type_ids|segment_ids"
)
MASKS = re.compile(r"\w*(mask|attn_bias|attention_bias)\w*|bias")
POSITIONS = re.compile(r"(input_)?pos(itions?|_ids)?|position_ids|cache_position")
CONSTANTS: dict[str, object] = {"start_pos": 0, "offset": 0, "past_length": 0, "use_cache": False, "return_dict": True}
NOTHING = re.compile(
    r"(kv_?)?cache|past(_key_values?)?|layer_past|state|hidden|hx|h0|states|kv|inference_params|\w*_cache"
)
TIMES = re.compile(r"t|timesteps?|time|noise_level|sigma|ts")
LENGTHS = re.compile(r"\w*len(gth)?s|\w*_(len|lengths?)")
LABELS = re.compile(r"labels?|targets?|y|y_true|ground_truth")
IMAGES = re.compile(r"ima?ge?s?|pixel_values|pixels|video")
MEMORIES = re.compile(
    r"(encoder_)?(memory|context|hidden_states|out(put)?s?)|ctx|enc(oder)?_(out|output|hidden|x)|kv|cond"
)
FIRST = (
    "input_ids",
    "idx",
    "tokens",
    "ids",
    "x",
    "pixel_values",
    "input_values",
    "input_features",
    "sample",
    "hidden_states",
)
MOST = 24
MOST_COMBINATIONS = 4096


class Spec(NamedTuple):
    """A tensor to be made."""

    kind: str
    """`ids`, `float`, `mask`, `positions`, `times` or `lengths`."""
    axes: tuple[Axis, ...]
    below: int = 2

    def sizes(self, choice: SizeChoice) -> tuple[int, ...]:
        return tuple(choice.size(axis) for axis in self.axes)

    def make(self, choice: SizeChoice) -> torch.Tensor:
        sizes = self.sizes(choice)
        if self.kind == "ids":
            return torch.randint(0, max(min(self.below, choice.rows), 1), sizes)
        if self.kind == "positions":
            return torch.arange(sizes[-1]).expand(sizes)
        if self.kind == "times":
            return torch.randint(0, 10, sizes)
        if self.kind == "lengths":
            return torch.ones(sizes, dtype=torch.long) * choice.length
        if self.kind == "mask":
            return torch.ones(sizes, dtype=torch.bool)
        return torch.randn(sizes)


class Makes(Protocol):
    """Something that makes an argument anew for each run."""

    def make(self, choice: SizeChoice) -> object: ...


class Plain(NamedTuple):
    """An argument that is no tensor."""

    value: object

    def make(self, choice: SizeChoice) -> object:
        return self.value


class Candidate(NamedTuple):
    """Arguments for one call of `forward`."""

    positional: tuple[Makes, ...]
    named: dict[str, Makes]
    assumptions: tuple[Assumption, ...]
    trusted: bool
    """Nothing hangs on a guess that could make correct code fail, except for the sizes of free axes."""

    def make(self, choice: SizeChoice) -> tuple[list[object], dict[str, object]]:
        """The arguments, by position and by name."""
        return [each.make(choice) for each in self.positional], {
            name: each.make(choice) for name, each in self.named.items()
        }

    def has(self, axis: str) -> bool:
        return any(isinstance(each, Spec) and axis in each.axes for each in (*self.positional, *self.named.values()))


class Variant(NamedTuple):
    """One tensor that a parameter may want, and why."""

    spec: Makes
    source: str
    sure: bool


def candidates(model: nn.Module) -> list[Candidate]:
    """The calls worth trying, best first."""
    wanted, by_position = wanted_parameters(model)
    main = next((name for name, each in wanted.items() if not is_side(each)), None)
    options: dict[str, list[Variant]] = {}
    main_options = variants(model, wanted[main], None) if main is not None else []
    for name, parameter in wanted.items():
        options[name] = main_options if name == main else variants(model, parameter, main_options)
    found: list[Candidate] = []
    for choice in combinations(options, main):
        found.append(candidate(choice, by_position))
        if len(found) == MOST:
            break
    return found


def combinations(options: dict[str, list[Variant]], main: str | None) -> Iterator[dict[str, Variant]]:
    """The likeliest first: those whose parts are early in their lists. What takes after the main input varies with it."""
    names = list(options)
    choices = itertools.product(*(range(len(options[name])) for name in names))
    for indices in sorted(itertools.islice(choices, MOST_COMBINATIONS), key=sum):
        chosen = {name: options[name][index] for name, index in zip(names, indices, strict=True)}
        if main is not None:
            spec = chosen[main].spec
            chosen = {
                name: each._replace(spec=spec) if each.source == "like" else each for name, each in chosen.items()
            }
            chosen = {
                name: of_two_classes(each) if name != main and LABELS.fullmatch(name) else each
                for name, each in chosen.items()
            }
        yield chosen


def of_two_classes(variant: Variant) -> Variant:
    """Labels that are in range, however few classes there are."""
    spec = variant.spec
    if isinstance(spec, Spec) and spec.kind == "ids":
        return variant._replace(spec=spec._replace(below=2))
    return variant


def candidate(choice: dict[str, Variant], by_position: str | None) -> Candidate:
    notes: list[Assumption] = []
    for name, variant in choice.items():
        spec = variant.spec
        text = (
            f"{spec.kind}[{', '.join(map(str, spec.axes))}]"
            if isinstance(spec, Spec)
            else repr(spec.make(SizeChoice()))
        )
        source = "name" if variant.source == "like" else variant.source
        notes.append(Assumption(name, text, source))
    named: dict[str, Makes] = {name: variant.spec for name, variant in choice.items()}
    positional: tuple[Makes, ...] = ()
    if by_position is not None:
        positional = tuple(named.values())
        named = {}
    return Candidate(positional, named, tuple(notes), all(variant.sure for variant in choice.values()))


def wanted_parameters(model: nn.Module) -> tuple[dict[str, inspect.Parameter], str | None]:
    """The parameters to give values to; and whether they have to go by position."""
    try:
        parameters = inspect.signature(model.forward).parameters
    except (TypeError, ValueError):
        return {}, None
    required = {
        name: each
        for name, each in parameters.items()
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    }
    rest = next((name for name, each in parameters.items() if each.kind is each.VAR_POSITIONAL), None)
    only = next((name for name, each in required.items() if each.kind is each.POSITIONAL_ONLY), None)
    if required:
        return required, only
    optional = next((name for name in FIRST if name in parameters), None)
    if optional is None:
        optional = next((name for name, each in parameters.items() if each.kind is each.POSITIONAL_OR_KEYWORD), rest)
    if optional is None:
        return {}, None
    return {optional: parameters[optional]}, rest if optional == rest else None


def is_side(parameter: inspect.Parameter) -> bool:
    """A parameter that accompanies the input."""
    name = parameter.name
    patterns = (MASKS, POSITIONS, TIMES, NOTHING, LENGTHS)
    return (
        name in CONSTANTS
        or any(pattern.fullmatch(name) for pattern in patterns)
        or annotation_of(parameter) in ("int", "bool")
    )


def annotation_of(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def variants(model: nn.Module, parameter: inspect.Parameter, main: list[Variant] | None) -> list[Variant]:
    """What a parameter may want, best first."""
    axes = annotated_axes(parameter.annotation)
    if axes is not None:
        return [annotated(model, parameter.name, axes)]
    found = of_code_and_name(model, parameter, main)
    if main is not None and LABELS.fullmatch(parameter.name):
        # A class or a number for each sample.
        found = [*found, *(Variant(Spec(kind, ("batch",)), "name", sure=False) for kind in ("ids", "float"))]
    return found


def of_code_and_name(model: nn.Module, parameter: inspect.Parameter, main: list[Variant] | None) -> list[Variant]:
    name = parameter.name
    found = of_parameter(model, name)
    if main is not None and not found.is_known:
        side = accompanying(parameter)
        if side:
            return side
    if found.is_known:
        known = from_evidence(model, name, found)
        if main is not None and TIMES.fullmatch(name):
            # One number for each sample, which a layer of the user's own spreads before any layer with a width.
            return [*(each._replace(sure=False) for each in known), *accompanying(parameter)]
        return known
    if main is not None:
        return [Variant(Plain(None), "like", sure=False)]
    return from_first_layer(model, name)


def accompanying(parameter: inspect.Parameter) -> list[Variant]:
    name = parameter.name
    annotation = annotation_of(parameter)
    if name in CONSTANTS:
        return [Variant(Plain(CONSTANTS[name]), "name", sure=True)]
    if annotation in ("int", "bool"):
        return [Variant(Plain(0 if annotation == "int" else False), "name", sure=False)]
    if MASKS.fullmatch(name):
        tensors = [("length", "length"), ("batch", "length"), ("batch", 1, 1, "length")]
        made = [Variant(Spec("mask", axes), "name", sure=False) for axes in tensors]
        return [Variant(Plain(None), "name", sure=True), *made]
    if NOTHING.fullmatch(name):
        return [Variant(Plain(None), "name", sure=False)]
    if POSITIONS.fullmatch(name):
        shapes: tuple[tuple[Axis, ...], ...] = (("length",), ("batch", "length"))
        return [Variant(Spec("positions", axes), "name", sure=False) for axes in shapes]
    if TIMES.fullmatch(name):
        return [Variant(Spec("times", ("batch",)), "name", sure=False)]
    if LENGTHS.fullmatch(name):
        return [Variant(Spec("lengths", ("batch",)), "name", sure=False)]
    return []


def annotated(model: nn.Module, name: str, axes: tuple[str, tuple[str, ...]]) -> Variant:
    kind, names = axes
    found = of_parameter(model, name)
    if kind == "ids":
        rows = found.rows or smallest_vocabulary(model)
        return Variant(Spec("ids", named_axes(names, found.width), rows), "annotation", sure=True)
    return Variant(Spec(kind, named_axes(names, found.width or first_width(model))), "annotation", sure=True)


def from_evidence(model: nn.Module, name: str, found: Evidence) -> list[Variant]:
    if found.rows is not None:
        axes: tuple[Axis, ...] = ("batch",) if found.rank == 1 else ("batch", "length")
        return [Variant(Spec("ids", axes, found.rows), "first_layer", sure=True)]
    if found.channels is not None:
        return [Variant(Spec("float", ("batch", found.channels, *space(found.space or 2))), "first_layer", sure=True)]
    if found.pattern:
        return [Variant(Spec("float", pattern_axes(found.pattern, model)), "first_layer", sure=False)]
    if found.is_flattened and found.width is not None and not found.names:
        side = round(found.width**0.5)
        image = (
            [Variant(Spec("float", ("batch", 1, side, side)), "first_layer", sure=True)]
            if side**2 == found.width
            else []
        )
        return [*image, Variant(Spec("float", ("batch", found.width)), "first_layer", sure=True)]
    width = found.width or first_width(model)
    if found.names:
        if found.rank == 2 and found.width is None and IDS.fullmatch(name):
            return [Variant(Spec("ids", ("batch", "length"), smallest_vocabulary(model)), "first_layer", sure=True)]
        return [Variant(Spec("float", named_axes(found.names, width)), "first_layer", sure=found.width is not None)]
    if found.width is not None:
        orders: list[tuple[Axis, ...]] = [("batch", "length", found.width), ("batch", found.width)]
        if found.rank == 4:
            orders = [("batch", "heads", "length", found.width)]
        return [Variant(Spec("float", axes), "first_layer", sure=True) for axes in orders]
    return from_first_layer(model, name)


def from_first_layer(model: nn.Module, name: str) -> list[Variant]:
    """The first layer in the order of their making, then whatever is usual."""
    vocabulary = smallest_vocabulary(model)
    ids = Variant(Spec("ids", ("batch", "length"), vocabulary), "name", sure=False)
    found: list[Variant] = []
    has_embedding = any(isinstance(each, nn.Embedding) for each in model.modules())
    if IDS.fullmatch(name) and has_embedding:
        found.append(ids._replace(sure=True))
    leaf = next((each for each in map(of_module_alone, model.modules()) if each.is_known), Evidence())
    if leaf.is_known and not IMAGES.fullmatch(name):
        found += [each._replace(sure=False) for each in from_evidence(model, name, leaf)]
    convolution = next((each for each in model.modules() if isinstance(each, nn.Conv2d)), None)
    channels = convolution.in_channels if convolution is not None else 3
    images = [
        Variant(Spec("float", ("batch", each, "side", "side")), "name", sure=False)
        for each in dict.fromkeys((channels, 3, 1))
    ]
    for width in widths(model) or [30]:
        orders: tuple[tuple[Axis, ...], ...] = (("batch", "length", width), ("batch", width))
        found += [Variant(Spec("float", axes), "name", sure=False) for axes in orders]
    found = images + found if IMAGES.fullmatch(name) or convolution is not None else found + images
    return list(dict.fromkeys([*found, ids]))


def of_module_alone(module: nn.Module) -> Evidence:
    return Evidence() if list(module.children()) else of_module(module, 0)


def widths(model: nn.Module) -> list[int]:
    found: list[int] = []
    for module in model.modules():
        leaf = of_module_alone(module)
        if leaf.width is not None:
            found.append(leaf.width)
    if not found:
        named = ((role_of(name), value) for name, value in declared_numbers(model))
        found = [value for role, value in named if role is not None and role.is_width]
        found += [int(weight.shape[-1]) for weight in model.parameters() if weight.dim() == 2]
        found += [int(buffer.shape[-1]) for buffer in model.buffers() if buffer.dim() > 1 and buffer.shape[-1] > 1]
    return list(dict.fromkeys([*found[:1], *sorted(set(found[:6]))]))


def first_width(model: nn.Module) -> int | None:
    return next(iter(widths(model)), None)


def smallest_vocabulary(model: nn.Module) -> int:
    return min((each.num_embeddings for each in model.modules() if isinstance(each, nn.Embedding)), default=100)


def space(axes: int) -> tuple[Axis, ...]:
    return {1: ("samples",), 2: ("side", "side"), 3: ("frames", "side", "side")}[axes]


def named_axes(names: tuple[str, ...], width: int | None) -> tuple[Axis, ...]:
    """Sizes for axes that the code names: `b, t, c`, `batch seq dim`."""
    found: list[Axis] = []
    for index, name in enumerate(names):
        is_last = index == len(names) - 1
        found.append(named_axis(name.lower().strip("*_"), index, is_last=is_last, width=width, rank=len(names)))
    return tuple(found)


def named_axis(name: str, index: int, *, is_last: bool, width: int | None, rank: int) -> Axis:
    if name.isdigit():
        return int(name)
    if re.fullmatch(r"b|bs|bsz|n?batch(_?size)?|bz|bsize|nbatches", name) or (name in ("n", "...") and index == 0):
        return "batch"
    if re.fullmatch(r"h|w|height|width|hh|ww|h_img|w_img", name) and rank == 4 and index >= 2:
        return "side"
    if is_last and width is not None:
        return width
    if re.fullmatch(
        r"t|l|s|n|q_?len|(num_?)?(seq|tokens?|src|tgt)(_?len(gth)?)?|seqlen|length|time|n_?tokens|sl|i", name
    ):
        return "length"
    if re.fullmatch(r"c|ch|chans?|channels?|in_c", name):
        return width if width is not None and rank != 4 else 3
    if re.fullmatch(r"h|heads?|n_?heads?|nh", name) and not is_last:
        return "heads"
    return "batch" if index == 0 else "length" if index == 1 else width or "memory"


def pattern_axes(pattern: tuple[str, ...], model: nn.Module) -> tuple[Axis, ...]:
    """Axes in the words of einops: `b c (h p1) (w p2)`."""
    if len(pattern) == 4:
        return ("batch", 3, "side", "side")
    width = first_width(model)
    return named_axes(tuple(each if each.isidentifier() else "_" for each in pattern), width)
