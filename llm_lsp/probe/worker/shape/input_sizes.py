"""The sizes of free axes: primes first; if only those fail, the sizes that the model itself declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from torch import nn

from .configs import fields_of
from .containers import listed
from .sizes import BATCH, LENGTH, LONGEST, SIDE, role_of

Axis = int | str
PRIMES = (13, 11, 7, 5, 3, 2)


ALL_ROWS = 2**31


class SizeChoice(NamedTuple):
    """A size for each axis that has a name."""

    batch: int = BATCH
    length: int = LENGTH
    memory: int = 11
    heads: int = 3
    side: int = SIDE
    frames: int = 16
    samples: int = 61
    rows: int = ALL_ROWS
    """Indices stay below this: a model whose sizes were shrunk has fewer rows."""
    said: str = ""
    """What is unusual about this choice, for the user."""

    @property
    def is_capped(self) -> bool:
        return self.rows < ALL_ROWS

    def size(self, axis: Axis) -> int:
        if isinstance(axis, int):
            return axis
        return int(getattr(self, axis))


class Declared(NamedTuple):
    """Numbers that the model carries under telling names."""

    longest: tuple[int, ...]
    multiples: tuple[int, ...]
    sides: tuple[int, ...]
    heads: tuple[int, ...]
    batches: tuple[int, ...]


def declared_sizes(model: nn.Module, namespace: Mapping[str, object]) -> Declared:
    """Numbers on the modules, on their configs, and at the top level of the file."""
    found: dict[str, dict[int, None]] = {"length": {}, "multiple": {}, "side": {}, "heads": {}, "batch": {}}
    of_file = ((name, each) for name, each in namespace.items() if type(each) is int and each > 0)
    for name, value in (*declared_numbers(model), *of_file):
        role = role_of(name)
        if name in ("batch_size", "bsz", "bs"):
            found["batch"][value] = None
        if role is None:
            if any(word in name for word in ("chunk", "segment", "window", "bucket", "block_len", "downsample")):
                found["multiple"][value] = None
            continue
        kind = {"length": "length", "side": "side", "patch": "multiple", "heads": "heads"}.get(role.name)
        if kind is not None:
            found[kind][value] = None
    return Declared(*(tuple(found[kind]) for kind in ("length", "multiple", "side", "heads", "batch")))


def declared_numbers(model: nn.Module) -> Iterator[tuple[str, int]]:
    """Whole numbers on the modules and on their configs, each of which is mostly shared by many modules."""
    configs: dict[int, object] = {}
    for module in model.modules():
        values: dict[str, object] = vars(module)
        for name, value in values.items():
            first = next(iter(listed(value) or ()), None)
            if isinstance(first, int):
                yield name, first
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                yield name, value
            elif id(value) not in configs and ("config" in name or name in ("cfg", "args", "params", "hparams")):
                configs[id(value)] = value
                for field, inner in fields_of(value):
                    if isinstance(inner, int) and not isinstance(inner, bool) and inner > 0:
                        yield field, inner


def prime_choice(declared: Declared) -> SizeChoice:
    """Distinct primes, below what the model can take."""
    longest = min(declared.longest, default=LONGEST)
    length = next((prime for prime in PRIMES if prime <= longest), 1)
    heads = declared.heads[0] if declared.heads else 3
    side = declared.sides[0] if declared.sides else SIDE
    return SizeChoice(length=length, memory=min(11, max(longest, 1)), heads=heads, side=side)


def other_choices(declared: Declared, first: SizeChoice) -> list[SizeChoice]:
    """What to try where the first choice fails: declared sizes, multiples, usual ones; another batch and length last."""
    longest = min(declared.longest, default=4096)
    lengths = [*declared.longest, *(each * 2 for each in declared.multiples), 16, 64]
    found = [
        first._replace(length=each, said=f"works with a length of {each}, not of {first.length}")
        for each in dict.fromkeys(lengths)
        if each != first.length and each <= longest
    ]
    sides = declared.sides or (SIDE, 28, 64, 224, 96, 256)
    found += [
        first._replace(side=each, said=f"works with images of {each} by {each}, not of {first.side}")
        for each in dict.fromkeys(sides)
        if each != first.side
    ]
    found += [first._replace(batch=each, said=f"works with a batch of {each}") for each in declared.batches]
    found += [
        first._replace(samples=each, said=f"works with {each} samples, not {first.samples}")
        for each in (64, 400, 16000)
    ]
    shorter = next((prime for prime in PRIMES if prime < min(first.length, 11)), 1)
    said = f"works with a length of {shorter}, not of {first.length}"
    return [*found, first._replace(batch=5, length=shorter, said=said)]
