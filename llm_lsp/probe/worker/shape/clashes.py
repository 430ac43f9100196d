"""Which two sizes clash in a failed operation, so that runs with other sizes can be compared with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .wording import ELEMENTWISE, SHORT, Operation, whole_numbers

Pair = tuple[int, int]


def clashing_sizes(operation: Operation) -> list[Pair] | None:
    """Pairs of sizes that would have to be equal; None where the operation isn't understood."""
    name = SHORT.get(operation.name, operation.name)
    find = FINDERS.get(name)
    if find is None and name in ELEMENTWISE:
        find = elementwise
    found = find(operation) if find is not None else None
    if not found and have_mixed_dtypes(operation):
        return []
    return found


def have_mixed_dtypes(operation: Operation) -> bool:
    """A clash of dtypes, which no size can mend."""
    return len({tensor.dtype for tensor in operation.tensors if tensor.is_floating_point()}) > 1


def aligned(left: Sequence[int], right: Sequence[int]) -> list[Pair]:
    pairs = zip(reversed(left), reversed(right), strict=False)
    return [(a, b) for a, b in pairs if a != b and 1 not in (a, b)]


def elementwise(operation: Operation) -> list[Pair] | None:
    tensors = operation.tensors
    found: list[Pair] = []
    for index, left in enumerate(tensors):
        for right in tensors[index + 1 :]:
            found += aligned(left.shape, right.shape)
    return found or None


def linear(operation: Operation) -> list[Pair] | None:
    value, weight = operation.tensor(0, "input"), operation.tensor(1, "weight")
    if value is None or weight is None or not value.dim():
        return None
    return different(value.shape[-1], weight.shape[-1])


def different(left: int, right: int) -> list[Pair] | None:
    return [(left, right)] if left != right else None


def matmul(operation: Operation) -> list[Pair] | None:
    left, right = operation.tensor(0, "input"), operation.tensor(1, "other")
    if left is None or right is None or not left.dim() or not right.dim():
        return None
    inner = different(left.shape[-1], right.shape[-2] if right.dim() > 1 else right.shape[0]) or []
    return inner + aligned(left.shape[:-2], right.shape[:-2]) or None


def viewed(operation: Operation) -> list[Pair] | None:
    """The elements that there are for each element that is asked for: a ratio that free sizes must leave alone."""
    value = operation.tensor(0, "input")
    sizes = whole_numbers(operation.arguments[1:] or tuple(operation.named.values()))
    if value is None or sizes is None:
        return None
    known = math.prod(size for size in sizes if size != -1)
    common = math.gcd(value.numel(), known) or 1
    if -1 in sizes and known and value.numel() % known == 0:
        return None
    return different(value.numel() // common, known // common)


def joined(operation: Operation) -> list[Pair] | None:
    tensors = operation.tensors
    axis = operation.plain(1, "dim")
    if len({tensor.dim() for tensor in tensors}) != 1 or not isinstance(axis, (int, type(None))):
        return [] if tensors else None
    skipped = (axis or 0) % max(tensors[0].dim(), 1)
    found: list[Pair] = []
    for other in tensors[1:]:
        pairs = enumerate(zip(tensors[0].shape, other.shape, strict=True))
        found += [(a, b) for index, (a, b) in pairs if a != b and (operation.name == "stack" or index != skipped)]
    return found or None


def convolution(operation: Operation) -> list[Pair] | None:
    value, weight = operation.tensor(0, "input"), operation.tensor(1, "weight")
    groups = operation.plain(6, "groups")
    if value is None or weight is None or value.dim() != weight.dim():
        return None
    return different(value.shape[1], weight.shape[1] * (groups if isinstance(groups, int) else 1))


def normalised(operation: Operation) -> list[Pair] | None:
    value, sizes = operation.tensor(0, "input"), operation.plain(1, "normalized_shape")
    whole = whole_numbers((sizes,))
    return aligned(value.shape, whole) if value is not None and whole is not None else None


def attention(operation: Operation) -> list[Pair] | None:
    three = [operation.tensor(index, name) for index, name in enumerate(("query", "key", "value"))]
    query, key, value = three
    if query is None or key is None or value is None:
        return None
    found = aligned(query.shape[-1:], key.shape[-1:]) + aligned(key.shape[-2:-1], value.shape[-2:-1])
    found += aligned(query.shape[:-2], key.shape[:-2]) + aligned(query.shape[:-2], value.shape[:-2])
    mask = operation.tensor(3, "attn_mask")
    if mask is not None:
        found += aligned(mask.shape, (*query.shape[:-1], key.shape[-2]))
    return found or None


def einsum(operation: Operation) -> list[Pair] | None:
    equation = operation.plain(0, "equation")
    if not isinstance(equation, str) or "." in equation:
        return None
    sizes: dict[str, int] = {}
    found: list[Pair] = []
    for labels, tensor in zip(equation.replace(" ", "").partition("->")[0].split(","), operation.tensors, strict=False):
        if len(labels) != tensor.dim():
            return []
        for label, size in zip(labels, tensor.shape, strict=True):
            if sizes.setdefault(label, size) != size:
                found.append((sizes[label], size))
    return found or None


def of_axes(operation: Operation) -> list[Pair] | None:
    """An axis that isn't there; sizes have no part in it."""
    return [] if operation.tensors else None


def expanded(operation: Operation) -> list[Pair] | None:
    value = operation.tensor(0, "input")
    sizes = whole_numbers(operation.arguments[1:] or tuple(operation.named.values()))
    if value is None or sizes is None:
        return None
    return [(a, b) for a, b in aligned(value.shape, sizes) if b != -1] or []


def divided(operation: Operation) -> list[Pair] | None:
    value, sizes = operation.tensor(0, "input"), operation.plain(1, "split_size")
    axis = operation.plain(2, "dim") or 0
    parts = whole_numbers((sizes,)) if not isinstance(sizes, int) else None
    if value is None or parts is None or not isinstance(axis, int) or not -value.dim() <= axis < value.dim():
        return None
    return different(value.shape[axis], sum(parts))


def cross_entropy(operation: Operation) -> list[Pair] | None:
    logits, target = operation.tensor(0, "input"), operation.tensor(1, "target")
    if logits is None or target is None:
        return None
    wanted = [*logits.shape[:1], *logits.shape[2:]]
    return [] if len(wanted) != target.dim() else [(a, b) for a, b in zip(wanted, target.shape, strict=True) if a != b]


FINDERS: dict[str, Callable[[Operation], list[Pair] | None]] = {
    "linear": linear,
    "matmul": matmul,
    "view": viewed,
    "reshape": viewed,
    "cat": joined,
    "concat": joined,
    "concatenate": joined,
    "stack": joined,
    "conv1d": convolution,
    "conv2d": convolution,
    "conv3d": convolution,
    "layer_norm": normalised,
    "rms_norm": normalised,
    "scaled_dot_product_attention": attention,
    "einsum": einsum,
    "transpose": of_axes,
    "permute": of_axes,
    "softmax": of_axes,
    "expand": expanded,
    "split": divided,
    "cross_entropy": cross_entropy,
}


def agree(runs: Sequence[list[Pair] | None]) -> bool:
    """Whether in all runs the same sizes clash: two that the code fixes, or two that move with the free sizes.

    One that moves against one that does not is an input of a size that the code doesn't take: our guess.
    """
    plain = [run for run in runs if run is not None]
    if len(plain) != len(runs) or len({len(run) for run in plain}) != 1:
        return False
    for pairs in zip(*plain, strict=True):
        left_moves = len({left for left, _ in pairs}) > 1
        right_moves = len({right for _, right in pairs}) > 1
        if left_moves != right_moves:
            return False
    return True
