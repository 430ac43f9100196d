"""What the code says of its inputs: how `forward` takes their shapes apart, and which layer they go to first."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Hashable, Iterator
from typing import NamedTuple, cast

from torch import nn

DEPTH = 8


class Evidence(NamedTuple):
    """What is known of one tensor; each field may be missing."""

    rank: int | None = None
    names: tuple[str, ...] = ()
    """The names that its axes are given, when the shape is unpacked."""
    width: int | None = None
    """The size of the last axis."""
    channels: int | None = None
    """The size of the axis after the batch, followed by `space` axes."""
    space: int = 0
    rows: int | None = None
    """Rows of an embedding: the tensor holds indices below this."""
    is_flattened: bool = False
    """All axes after the batch become one before the first layer, which wants `width` of them."""
    pattern: tuple[str, ...] = ()
    """The axes in the words of einops."""

    @property
    def is_known(self) -> bool:
        return self != Evidence()


def merged(first: Evidence, second: Evidence) -> Evidence:
    """What both say; the first counts where they differ."""
    known = {name: value for name, value in first._asdict().items() if value not in (None, (), 0, False)}
    return second._replace(**known)


def of_module(module: nn.Module, depth: int = DEPTH) -> Evidence:
    """What a module wants to be called with."""
    leaf = of_leaf(module)
    if leaf is not None or depth == 0:
        return leaf or Evidence()
    if isinstance(module, nn.Sequential) or type(module).__module__.startswith("torch."):
        return of_children(module, depth)
    parameters = forward_parameters(module)
    if not parameters:
        return Evidence()
    return of_parameter(module, parameters[0], depth - 1)


def of_children(module: nn.Module, depth: int) -> Evidence:
    is_flattened = False
    for child in module.children():
        if isinstance(child, nn.Flatten):
            is_flattened = True
            continue
        found = of_module(child, depth - 1)
        if found.is_known:
            return found._replace(is_flattened=is_flattened)
    return Evidence()


def of_leaf(module: nn.Module) -> Evidence | None:
    if isinstance(module, (nn.Embedding, nn.EmbeddingBag)):
        return Evidence(rows=module.num_embeddings)
    if isinstance(module, nn.Linear):
        return Evidence(width=module.in_features)
    if isinstance(module, nn.LayerNorm):
        return Evidence(width=module.normalized_shape[-1])
    for kind, space in CONVOLUTIONS:
        if isinstance(module, kind):
            return Evidence(channels=module.in_channels, space=space, rank=space + 2)
    if isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
        channels = module.num_features if isinstance(module, nn.BatchNorm2d) else module.num_channels
        return Evidence(channels=channels, space=2)
    if isinstance(module, nn.RNNBase):
        return Evidence(width=module.input_size, rank=3)
    if isinstance(module, nn.MultiheadAttention):
        return Evidence(width=module.embed_dim, rank=3)
    pattern = getattr(module, "pattern", None)
    if isinstance(pattern, str) and "->" in pattern:
        return Evidence(pattern=einops_axes(pattern))
    return None if list(module.children()) else of_weights(module)


CONVOLUTIONS = (
    ((nn.Conv1d, nn.ConvTranspose1d), 1),
    ((nn.Conv2d, nn.ConvTranspose2d), 2),
    ((nn.Conv3d, nn.ConvTranspose3d), 3),
)


def of_weights(module: nn.Module) -> Evidence | None:
    """A norm of the user's own: one weight for each feature."""
    weights = list(module.parameters(recurse=False))
    sizes = {int(weight.shape[0]) for weight in weights if weight.dim() == 1}
    if weights and all(weight.dim() == 1 for weight in weights) and len(sizes) == 1 and sizes != {1}:
        return Evidence(width=sizes.pop())
    return None


def of_parameter(module: nn.Module, name: str, depth: int = DEPTH) -> Evidence:
    """What `forward` does with one of its parameters before it is given another value."""
    function = source_of(cast("Hashable", type(module)))
    found = Evidence()
    if function is None:
        return found
    for node in in_order(function.body):
        found = merged(found, of_node(module, name, node, depth))
        if found.is_known and (found.width or found.channels or found.rows) and (found.rank or found.rows):
            break
    return found


def in_order(body: list[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        nodes = [node for node in ast.walk(statement) if hasattr(node, "lineno")]
        yield from sorted(nodes, key=lambda node: (node.lineno, node.col_offset))  # type: ignore[attr-defined]


def of_node(module: nn.Module, name: str, node: ast.AST, depth: int) -> Evidence:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and is_shape_of(node.value, name):
        target = node.targets[0]
        if isinstance(target, (ast.Tuple, ast.List)) and not any(isinstance(each, ast.Starred) for each in target.elts):
            names = tuple(each.id if isinstance(each, ast.Name) else "_" for each in target.elts)
            return Evidence(rank=len(names), names=names)
    if not isinstance(node, ast.Call) or not node.args:
        return Evidence()
    called = function_name(node.func)
    if called in ("rearrange", "reduce", "repeat") and len(node.args) > 1 and is_name(node.args[0], name):
        pattern = node.args[1]
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
            return Evidence(pattern=einops_axes(pattern.value))
    child = submodule(module, node.func)
    if child is None:
        return Evidence()
    argument = node.args[0]
    if is_name(argument, name):
        return of_module(child, depth - 1) if depth else Evidence()
    if isinstance(argument, ast.Call) and is_reshaped(argument, name):
        return of_module(child, depth - 1)._replace(is_flattened=True)
    return Evidence()


def is_name(node: ast.expr, name: str) -> bool:
    """The name itself, or a change of type of it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("float", "long", "to", "type", "contiguous") and is_name(node.func.value, name)
    return isinstance(node, ast.Name) and node.id == name


def is_reshaped(node: ast.Call, name: str) -> bool:
    called = function_name(node.func)
    if called not in ("flatten", "view", "reshape"):
        return False
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return (owner is not None and is_name(owner, name)) or (bool(node.args) and is_name(node.args[0], name))


def is_shape_of(node: ast.expr, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "shape" and is_name(node.value, name)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.attr == "size" and is_name(node.func.value, name)
    return False


def function_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def submodule(module: nn.Module, node: ast.expr) -> nn.Module | None:
    """`self.transformer.wte`, `self.layers[0]`, `self.blocks["a"]`."""
    if isinstance(node, ast.Name):
        return module if node.id == "self" else None
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        owner = submodule(module, node.value)
        if owner is None:
            return None
        found: object = None
        if isinstance(node, ast.Attribute):
            # Children first: `getattr` runs the user's properties.
            found = dict(owner.named_children()).get(node.attr)
        elif isinstance(node.slice, ast.Constant) and isinstance(owner, (nn.ModuleList, nn.ModuleDict, nn.Sequential)):
            children = dict(owner.named_children())
            found = children.get(str(node.slice.value))
        return found if isinstance(found, nn.Module) else None
    return None


def einops_axes(pattern: str) -> tuple[str, ...]:
    left = pattern.partition("->")[0].strip()
    return tuple(re.findall(r"\([^)]*\)|[^\s()]+", left))


def forward_parameters(module: nn.Module) -> list[str]:
    try:
        return [name for name, each in inspect.signature(module.forward).parameters.items() if each.kind in (0, 1)]
    except (TypeError, ValueError):
        return []


@functools.cache
def source_of(made: Hashable) -> ast.FunctionDef | None:
    """The syntax of the class's `forward`; None where no text is at hand."""
    try:
        text = textwrap.dedent(inspect.getsource(inspect.unwrap(forward_of(made))))
        body = ast.parse(text).body
    except (OSError, TypeError, SyntaxError, ValueError, IndentationError):
        return None
    return body[0] if body and isinstance(body[0], ast.FunctionDef) else None


def forward_of(made: object) -> Callable[..., object]:
    forward: Callable[..., object] | None = getattr(made, "forward", None)
    if forward is None:
        raise TypeError("no `forward`")
    return forward
