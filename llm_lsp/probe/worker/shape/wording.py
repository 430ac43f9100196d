"""What an operation can't do with its operands, said from the operands alone: the same words in every mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from .containers import listed
from .describing import dtype_text, sizes_text

SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "true_divide": "/",
    "matmul": "@",
    "add_": "+=",
    "mul_": "*=",
    "sub_": "-=",
}
ELEMENTWISE = {
    *SYMBOLS,
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "maximum",
    "minimum",
    "where",
    "masked_fill",
    "masked_fill_",
} | {
    "logical_and",
    "logical_or",
    "pow",
    "addcmul",
    "lerp",
    "mse_loss",
    "l1_loss",
    "__and__",
    "__or__",
    "bitwise_and",
    "bitwise_or",
    "rsub",
    "floor_divide",
    "remainder",
    "copy_",
}
SHORT = {
    "__rmul__": "mul",
    "__radd__": "add",
    "__rsub__": "sub",
    "__matmul__": "matmul",
    "__rmatmul__": "matmul",
    "mm": "matmul",
    "bmm": "matmul",
} | {
    "iadd": "add_",
    "__iadd__": "add_",
    "__imul__": "mul_",
    "__isub__": "sub_",
    "__truediv__": "div",
    "__rtruediv__": "div",
    "__rdiv__": "div",
}


class Operation(NamedTuple):
    """A call of a torch function."""

    name: str
    arguments: tuple[object, ...]
    named: dict[str, object]

    def tensor(self, index: int, name: str = "") -> torch.Tensor | None:
        found = self.arguments[index] if len(self.arguments) > index else self.named.get(name)
        return found if isinstance(found, torch.Tensor) else None

    def plain(self, index: int, name: str) -> object:
        return self.arguments[index] if len(self.arguments) > index else self.named.get(name)

    @property
    def tensors(self) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []
        for value in (*self.arguments, *self.named.values()):
            if isinstance(value, torch.Tensor):
                found.append(value)
            else:
                found += [each for each in listed(value) or () if isinstance(each, torch.Tensor)]
        return found


def message_of(operation: Operation) -> str | None:
    """One clause; None where the operands explain nothing."""
    name = SHORT.get(operation.name, operation.name)
    say = SAYINGS.get(name)
    found = say(operation._replace(name=name)) if say is not None else None
    if found is None and name in ELEMENTWISE:
        found = elementwise(operation._replace(name=name))
    return found or dtypes(operation)


def operand_texts(operation: Operation) -> list[str]:
    return [sizes_text(tensor) for tensor in operation.tensors]


def elementwise(operation: Operation) -> str | None:
    tensors = [tensor for tensor in operation.tensors if tensor.dim()]
    for index, left in enumerate(tensors):
        for right in tensors[index + 1 :]:
            axis = clash(left.shape, right.shape)
            if axis is not None:
                sign = SYMBOLS.get(operation.name)
                both = f"{sizes_text(left)} {sign or 'and'} {sizes_text(right)}"
                do = both if sign else f"`{operation.name.strip('_')}` of {both}"
                return f"{do}: sizes {left.shape[axis]} and {right.shape[axis]} at axis {axis} don't fit"
    return None


def clash(left: Sequence[int], right: Sequence[int]) -> int | None:
    """The last axis, counted from the end, on which two shapes can't be broadcast."""
    for axis in range(-1, -min(len(left), len(right)) - 1, -1):
        if left[axis] != right[axis] and 1 not in (left[axis], right[axis]):
            return axis
    return None


def dtypes(operation: Operation) -> str | None:
    kinds = list(dict.fromkeys(dtype_text(tensor) for tensor in operation.tensors if tensor.dim()))
    floating = {dtype_text(tensor) for tensor in operation.tensors if tensor.is_floating_point()}
    if len(kinds) > 1 and (
        len(floating) > 1 or operation.name in ("linear", "matmul", "conv1d", "conv2d", "scaled_dot_product_attention")
    ):
        pairs = " and ".join(f"{dtype_text(tensor)}{sizes_text(tensor)}" for tensor in operation.tensors)
        return f"`{operation.name}` of {' and '.join(kinds)}: operands must have one dtype ({pairs})"
    return None


def linear(operation: Operation) -> str | None:
    value, weight = operation.tensor(0, "input"), operation.tensor(1, "weight")
    if value is None or weight is None or not value.dim() or value.shape[-1] == weight.shape[-1]:
        return None
    return f"`linear` takes {weight.shape[-1]} features, the last axis of {sizes_text(value)} has {value.shape[-1]}"


def matmul(operation: Operation) -> str | None:
    left, right = operation.tensor(0, "input"), operation.tensor(1, "other")
    if left is None or right is None or not left.dim() or not right.dim():
        return None
    inner = right.shape[-2] if right.dim() > 1 else right.shape[0]
    both = f"{sizes_text(left)} @ {sizes_text(right)}"
    if left.shape[-1] != inner:
        return f"{both}: the last axis of the left has {left.shape[-1]}, axis {-2 if right.dim() > 1 else 0} of the right {inner}"
    axis = clash(left.shape[:-2], right.shape[:-2])
    if axis is not None:
        return f"{both}: sizes {left.shape[:-2][axis]} and {right.shape[:-2][axis]} at axis {axis - 2} don't fit"
    return None


def viewed(operation: Operation) -> str | None:
    value = operation.tensor(0, "input")
    if value is None:
        return None
    sizes = whole_numbers(operation.arguments[1:] or tuple(operation.named.values()))
    if sizes is None:
        return None
    count = 1
    for size in sizes:
        count *= 1 if size == -1 else size
    wanted = "[" + ", ".join(map(str, sizes)) + "]"
    total = value.numel()
    if -1 in sizes:
        if count and total % count:
            return f"{sizes_text(value)} can't be seen as {wanted}: {total} elements are no multiple of {count}"
    elif count != total:
        return f"{sizes_text(value)} can't be seen as {wanted}: {total} elements, not {count}"
    if operation.name == "view":
        return f"`view` of {sizes_text(value)} as {wanted} needs the elements in another order in memory; `reshape` copies them"
    return None


def whole_numbers(values: tuple[object, ...]) -> list[int] | None:
    flat: list[object] = []
    for value in values:
        elements = listed(value)
        flat.extend([value] if elements is None else elements)
    whole = [value for value in flat if isinstance(value, int)]
    return whole if whole and len(whole) == len(flat) else None


def joined(operation: Operation) -> str | None:
    tensors = operation.tensors
    axis = operation.plain(1, "dim")
    where = axis if isinstance(axis, int) else 0
    ranks = {tensor.dim() for tensor in tensors}
    texts = " and ".join(map(sizes_text, tensors))
    if len(ranks) > 1:
        return f"`{operation.name}` of {texts}: they have different numbers of axes"
    rank = next(iter(ranks), 0)
    if not -rank <= where < rank and operation.name != "stack":
        return f"`{operation.name}` along axis {where}, but {texts} have {rank} axes"
    for index in range(rank):
        sizes = [int(tensor.shape[index]) for tensor in tensors]
        if (operation.name == "stack" or index != where % rank) and len(set(sizes)) > 1:
            return f"`{operation.name}` of {texts} along axis {where}: sizes {sizes[0]} and {other_than(sizes)} at axis {index} differ"
    return None


def other_than(sizes: list[int]) -> int:
    return next(size for size in sizes if size != sizes[0])


def convolution(operation: Operation) -> str | None:
    value, weight = operation.tensor(0, "input"), operation.tensor(1, "weight")
    if value is None or weight is None:
        return None
    groups = operation.plain(6, "groups")
    channels = weight.shape[1] * (groups if isinstance(groups, int) else 1)
    space = weight.dim() - 2
    if value.dim() not in (space + 1, space + 2):
        return f"`{operation.name}` takes [batch, channels] and {space} more, not {sizes_text(value)}"
    found = value.shape[-space - 1]
    if found != channels:
        return f"`{operation.name}` takes {channels} channels, axis {-space - 1} of {sizes_text(value)} has {found}"
    return f"`{operation.name}`: the kernel {list(weight.shape[2:])} is larger than the input {sizes_text(value)}"


def normalised(operation: Operation) -> str | None:
    value, sizes = operation.tensor(0, "input"), listed(operation.plain(1, "normalized_shape"))
    if value is None or sizes is None or list(value.shape[-len(sizes) :]) == sizes:
        return None
    return f"`{operation.name}` over {sizes}, but {sizes_text(value)} ends in {list(value.shape[-len(sizes) :])}"


def embedded(operation: Operation) -> str | None:
    indices, weight = operation.tensor(0, "input"), operation.tensor(1, "weight")
    if indices is None or weight is None:
        return None
    if indices.is_floating_point():
        return f"`embedding` looks up whole numbers, the indices {sizes_text(indices)} are {dtype_text(indices)}"
    if indices.device.type == "cpu" and weight.dim() and indices.numel():
        try:
            highest, lowest = int(indices.max().item()), int((indices * -1).max().item()) * -1
        except RuntimeError:
            return None
        if highest >= weight.shape[0] or lowest < 0:
            return f"`embedding` has {weight.shape[0]} rows, an index is {highest if highest >= weight.shape[0] else lowest}"
    return None


def attention(operation: Operation) -> str | None:
    query, key, value = (operation.tensor(index, name) for index, name in enumerate(("query", "key", "value")))
    if query is None or key is None or value is None:
        return None
    three = f"queries {sizes_text(query)}, keys {sizes_text(key)}, values {sizes_text(value)}"
    if query.shape[-1] != key.shape[-1]:
        return f"attention: heads of queries have {query.shape[-1]} features, those of keys {key.shape[-1]} ({three})"
    if key.shape[-2] != value.shape[-2]:
        return f"attention: {key.shape[-2]} keys for {value.shape[-2]} values ({three})"
    for other in (key, value):
        axis = clash(query.shape[:-2], other.shape[:-2])
        if axis is not None:
            a, b = query.shape[:-2][axis], other.shape[:-2][axis]
            return f"attention: sizes {a} and {b} at axis {axis - 2} don't fit ({three})"
    mask = operation.tensor(3, "attn_mask")
    scores = (*query.shape[:-1], key.shape[-2])
    if mask is not None and clash(mask.shape, scores) is not None:
        return f"attention: the mask {sizes_text(mask)} doesn't fit the scores {list(scores)}"
    return None


def reordered(operation: Operation) -> str | None:
    value = operation.tensor(0, "input")
    axes = whole_numbers(operation.arguments[1:] or tuple(operation.named.values()))
    if value is None or axes is None:
        return None
    rank = value.dim()
    outside = [axis for axis in axes if not -rank <= axis < rank]
    if outside:
        return f"`{operation.name}` names axis {outside[0]}, {sizes_text(value)} has {rank} axes"
    if operation.name == "permute" and len(axes) != rank:
        return f"`permute` names {len(axes)} axes, {sizes_text(value)} has {rank}"
    return None


def expanded(operation: Operation) -> str | None:
    value = operation.tensor(0, "input")
    sizes = whole_numbers(operation.arguments[1:] or tuple(operation.named.values()))
    if value is None or sizes is None:
        return None
    wanted = "[" + ", ".join(map(str, sizes)) + "]"
    if len(sizes) < value.dim():
        return f"{sizes_text(value)} can't be expanded to the fewer axes of {wanted}"
    for axis in range(-1, -value.dim() - 1, -1):
        if sizes[axis] not in (-1, value.shape[axis]) and value.shape[axis] != 1:
            return f"{sizes_text(value)} can't be expanded to {wanted}: axis {axis} has {value.shape[axis]}"
    return None


def divided(operation: Operation) -> str | None:
    value, sizes = operation.tensor(0, "input"), operation.plain(1, "split_size")
    parts = whole_numbers((sizes,)) if not isinstance(sizes, int) else None
    axis = operation.plain(2, "dim") or 0
    if value is None or parts is None or not isinstance(axis, int) or not -value.dim() <= axis < value.dim():
        return None
    if sum(parts) != value.shape[axis]:
        return f"`split` into {parts} wants {sum(parts)}, axis {axis} of {sizes_text(value)} has {value.shape[axis]}"
    return None


def cross_entropy(operation: Operation) -> str | None:
    logits, target = operation.tensor(0, "input"), operation.tensor(1, "target")
    if logits is None or target is None:
        return None
    wanted = [*logits.shape[:1], *logits.shape[2:]]
    if not target.is_floating_point() and list(target.shape) != wanted:
        return f"`cross_entropy` of logits {sizes_text(logits)} takes targets {wanted}, not {sizes_text(target)}"
    return None


SAYINGS: dict[str, Callable[[Operation], str | None]] = {
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
    "embedding": embedded,
    "scaled_dot_product_attention": attention,
    "transpose": reordered,
    "permute": reordered,
    "softmax": reordered,
    "expand": expanded,
    "split": divided,
    "cross_entropy": cross_entropy,
}
