"""Bugs that raise nothing, seen by running again with a changed input: samples that mix, tokens that see the future.

Each oracle gives a warning with its evidence. The runs are real, in evaluation mode, and seeded, so that nothing but
the changed input can make a difference.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from .containers import dictionary, listed
from .describing import sizes_text, tensors_in
from .input_sizes import SizeChoice
from .inputs import Candidate, smallest_vocabulary
from .operations import Operations, Place
from .running import REAL, Model, running

TOLERANCE = 1e-4
LARGEST_KEPT = 1_000_000
CAUSAL = re.compile(r"is_causal\s*=\s*True|\btril\b|\btriu\b|causal|autoregressive|decoder-only", re.IGNORECASE)
DECODERS = re.compile(
    r"GPT|Llama|Causal|Mistral|Qwen|Gemma|Mamba|RWKV|Decoder|LanguageModel|LM$|RetNet|Falcon|Phi|Bigram", re.IGNORECASE
)
NOT_DECODERS = re.compile(
    r"Bert|Mask|MLM|Encoder|Bidirectional|T5|Bart|Seq2Seq|Diffusion|Classif|Tagg|Reward|Value|Critic|Embed|Translat",
    re.IGNORECASE,
)


SEQUENCE_FIRST = re.compile(
    r"\b(T|L|t|n|(seq|src|tgt)_?len\w*|time\w*)\s*,\s*(B|N|b|bsz|batch\w*)\b|\[:\s*\w+\.(size\(0\)|shape\[0\])\]|seq_len x batch|\(L, N",
)


class Suspicion(NamedTuple):
    """A warning with its evidence."""

    kind: str
    message: str
    place: Place | None


class Kept(Operations):
    """Keeps what every operation gives, with the line of the user's that asked for it."""

    def __init__(self, root: str) -> None:
        super().__init__("cpu", root)
        self.results: list[tuple[torch.Tensor | None, Place | None]] = []

    def watch(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: object) -> None:
        frame = self.users_frame()
        place = Place(frame.f_code.co_filename, frame.f_lineno) if frame is not None else None
        for tensor in tensors_in(result):
            kept = tensor.detach().clone() if tensor.is_floating_point() and tensor.numel() < LARGEST_KEPT else None
            self.results.append((kept, place))


class Seen(NamedTuple):
    """One run: what came out, and on the way."""

    outputs: list[torch.Tensor]
    results: list[tuple[torch.Tensor | None, Place | None]]


def is_decoder_only(class_name: str, text: str) -> bool:
    """Whether its outputs must not see later tokens, told by names and masks; in doubt no."""
    if NOT_DECODERS.search(class_name):
        return False
    return DECODERS.search(class_name) is not None or CAUSAL.search(text) is not None


class Oracles:
    """Runs one model again and again."""

    def __init__(self, model: Model, candidate: Candidate, choice: SizeChoice, root: str, text: str) -> None:
        self.model = model
        self.text = text
        self.root = root
        choice = choice._replace(rows=smallest_vocabulary(model.module))
        self.candidate = candidate
        with running(REAL, Operations("cpu", root)):
            positional, named = candidate.make(choice)
            first = next(iter(tensors_in([*positional, *named.values()])), None)
            single = first is not None and first.dim() > 1 and first.shape[0] == 1
            self.positional = [doubled(each) if single else each for each in positional]
            self.named = {name: doubled(each) if single else each for name, each in named.items()}

    def run(self, change: Callable[[torch.Tensor], torch.Tensor] | None = None, *, keep: bool = False) -> Seen:
        """Runs with the main input changed; nothing that the model does to its inputs is left over."""
        kept = Kept(self.root)
        positional = [fresh(value) for value in self.positional]
        named = {name: fresh(value) for name, value in self.named.items()}
        if change is not None:
            self.put(change, positional, named)
        # Seeded only now: a change that draws must not change what the model draws.
        with running(REAL, kept):
            kept.watching = keep
            output = self.model.module(*positional, **named)
            kept.watching = False
        return Seen([tensor.detach().clone() for tensor in tensors_in(output)], kept.results)

    def put(
        self, change: Callable[[torch.Tensor], torch.Tensor], positional: list[object], named: dict[str, object]
    ) -> None:
        main = self.main
        if isinstance(main, int):
            value = positional[main]
            positional[main] = change(value) if isinstance(value, torch.Tensor) else value
        else:
            value = named[main]
            named[main] = change(value) if isinstance(value, torch.Tensor) else value

    @property
    def main(self) -> int | str:
        """The argument that is changed: the first tensor."""
        for index, value in enumerate(self.positional):
            if isinstance(value, torch.Tensor):
                return index
        return next(name for name, value in self.named.items() if isinstance(value, torch.Tensor))

    @property
    def input(self) -> torch.Tensor:
        main = self.main
        found = self.positional[main] if isinstance(main, int) else self.named[main]
        if not isinstance(found, torch.Tensor):
            raise TypeError("the main input is a tensor")
        return found

    def is_steady(self) -> bool:
        """Whether two equal runs give the same; without that no difference says anything."""
        first, second = self.unchanged, self.run()
        return len(first.outputs) == len(second.outputs) and all(
            moved(a, b) == 0.0 for a, b in zip(first.outputs, second.outputs, strict=True)
        )

    @functools.cached_property
    def seconds(self) -> float:
        """What one run takes, of the processor."""
        begun = time.process_time()
        _ = self.unchanged
        return time.process_time() - begun

    @functools.cached_property
    def unchanged(self) -> Seen:
        """A run with the inputs as they are."""
        return self.run()

    @functools.cached_property
    def unchanged_on_the_way(self) -> Seen:
        """The same, with what every operation gives."""
        return self.run(keep=True)

    # ------------------------------------------------------------ the oracles

    def samples_mix(self) -> Suspicion | None:
        """Changing sample 0 must leave the output of the others as it is."""
        batch = self.input.shape[0] if self.input.dim() > 1 else 0
        if batch < 2 or (self.may_be_batch_second() and self.is_batch_second()):
            return None
        before, after = self.unchanged, self.run(lambda value: changed_at(value, 0, 0))
        for one, other in zip(before.outputs, after.outputs, strict=False):
            if not has_one(one, batch) or one.shape[0] != batch or one.shape != other.shape:
                continue
            distance = moved(one[1:], other[1:])
            if distance > TOLERANCE:
                place = self.first_place(
                    lambda value: changed_at(value, 0, 0),
                    lambda a, b: has_one(a, batch) and a.shape[0] == batch and moved(a[1:], b[1:]) > TOLERANCE,
                )
                text = f"samples mix: changing sample 0 alone moves the output {sizes_text(one)} of sample 1 by {distance:.2g} of its size"
                return Suspicion("batch", text, place)
        return None

    def may_be_batch_second(self) -> bool:
        """Layers of torch that take the sequence first, or names that say so."""
        first = (getattr(module, "batch_first", True) is False for module in self.model.module.modules())
        return any(first) or SEQUENCE_FIRST.search(self.text) is not None

    def is_batch_second(self) -> bool:
        """A sequence in front of the batch: then position 0 may reach all others, and column 0 nothing but itself."""
        if self.input.dim() < 2 or self.input.shape[1] < 2:
            return False
        columns = self.input.shape[1]
        before, after = self.unchanged, self.run(lambda value: changed_at(value, 1, 0))
        compared = False
        for one, other in zip(before.outputs, after.outputs, strict=False):
            if one.dim() > 1 and one.shape == other.shape and one.shape[1] == columns:
                compared = True
                if moved(one[:, 1:], other[:, 1:]) > TOLERANCE:
                    return False
        rows = self.run(lambda value: changed_at(value, 0, 0))
        mixes = any(
            one.dim() > 1 and one.shape == other.shape and moved(one[1:], other[1:]) > TOLERANCE
            for one, other in zip(before.outputs, rows.outputs, strict=False)
        )
        return compared and mixes

    def future_is_seen(self) -> Suspicion | None:
        """In a decoder, changing a token must leave the outputs before it as they are."""
        value = self.input
        if value.dim() != 2 or value.is_floating_point() or value.shape[1] < 3:
            return None
        length, position = int(value.shape[1]), int(value.shape[1]) // 2

        def change(value: torch.Tensor) -> torch.Tensor:
            return changed_at(value, 1, position)

        one, other = (along_tokens(seen, length) for seen in (self.unchanged, self.run(change)))
        if one is None or other is None:
            # Only the last token's output is given.
            seen = self.unchanged_on_the_way, self.run(change, keep=True)
            one, other = (along_tokens(each, length) for each in seen)
        if one is None or other is None or moved(one[:, position:], other[:, position:]) <= TOLERANCE:
            return None
        distance = moved(one[:, :position], other[:, :position])
        if distance <= TOLERANCE:
            return None
        place = self.first_place(change, lambda a, b: leaks(a, b, length, position))
        text = f"the future is seen: changing token {position} moves the outputs of tokens before it by {distance:.2g} of their size"
        return Suspicion("causality", text, place)

    def first_place(
        self,
        change: Callable[[torch.Tensor], torch.Tensor],
        is_wrong: Callable[[torch.Tensor, torch.Tensor], bool],
    ) -> Place | None:
        """The user's line of the first result that differs where it must not."""
        after = self.run(change, keep=True)
        for (one, place), (other, _) in zip(self.unchanged_on_the_way.results, after.results, strict=False):
            if one is not None and other is not None and one.shape == other.shape and is_wrong(one, other):
                return place
        return None


def along_tokens(seen: Seen, length: int) -> torch.Tensor | None:
    """The output for each token; where only the last token's is given, the last result that has all."""
    found = next((each for each in seen.outputs if each.dim() == 3 and each.shape[1] == length), None)
    if found is not None:
        return found
    results = (result for result, _ in reversed(seen.results) if result is not None)
    return next((each for each in results if each.dim() == 3 and each.shape[1] == length), None)


def doubled(value: object) -> object:
    """Two samples of one: whether samples mix is to be seen with two."""
    if isinstance(value, torch.Tensor) and value.dim() > 1 and value.shape[0] == 1:
        return value.expand((2, *value.shape[1:])).clone()
    return value


def fresh(value: object) -> object:
    if isinstance(value, torch.Tensor):
        return value.clone()
    items, elements = dictionary(value), listed(value)
    if items is not None:
        return {key: fresh(each) for key, each in items.items()}
    return [fresh(each) for each in elements] if elements is not None else value


def changed_at(value: torch.Tensor, axis: int, index: int) -> torch.Tensor:
    """Another input at one index of an axis; indices stay below the largest that is there, so that they stay rows."""
    made = value.clone()
    where = (slice(None),) * axis + (index,)
    if value.is_floating_point():
        made[where] = torch.randn(tuple(made[where].shape)) * 2 + 1
    elif value.dtype is not torch.bool:
        top = int(value.max().item()) + 1
        made[where] = (made[where] + max(top // 2, 1)) % max(top, 2)
    return made


def moved(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference, relative to the largest value; NaN counts as equal to itself."""
    if one.numel() == 0 or one.dtype is torch.bool:
        return 0.0
    a, b = one.double(), other.double()
    if torch.isnan(a).any() or torch.isnan(b).any():
        return 0.0
    scale = max(float(a.abs().max().item()), float(b.abs().max().item()), 1e-12)
    return float((a - b).abs().max().item()) / scale


def has_one(tensor: torch.Tensor, size: int) -> bool:
    """Whether one axis alone has this size; with more one can't tell which is meant."""
    return list(tensor.shape).count(size) == 1


def leaks(one: torch.Tensor, other: torch.Tensor, length: int, position: int) -> bool:
    if not has_one(one, length):
        return False
    axis = list(one.shape).index(length)
    before = (slice(None),) * axis + (slice(0, position),)
    return moved(one[before], other[before]) > TOLERANCE
