"""What torch is asked for while the model runs.

Devices are led to the one at hand; the operation that failed is kept, and those whose shapes deserve a second look.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from .containers import listed
from .describing import sizes_text, tensors_in
from .importing import is_users_file
from .sizes import role_of

ACCELERATORS = ("cuda", "mps", "xpu")
BROADCASTING = {
    "add",
    "sub",
    "mul",
    "div",
    "true_divide",
    "rsub",
    "eq",
    "lt",
    "le",
    "gt",
    "ge",
    "ne",
    "maximum",
    "minimum",
} | {
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "add_",
    "sub_",
    "mul_",
}
DECLARING = {
    "unsqueeze",
    "unsqueeze_",
    "view",
    "reshape",
    "expand",
    "expand_as",
    "outer",
    "meshgrid",
    "narrow",
    "split",
    "chunk",
} | {
    "unbind",
    "repeat",
    "tril",
    "triu",
    "rearrange",
    "unflatten",
}
"""What makes an axis of size 1 on purpose; so does `keepdim`."""


class Failed(NamedTuple):
    """The operation that raised."""

    error: BaseException
    name: str
    arguments: tuple[object, ...]
    named: dict[str, object]


class Place(NamedTuple):
    """A line of the user's."""

    file: str
    line: int


class Broadcast(NamedTuple):
    """An operation that grew both of its operands."""

    place: Place
    name: str
    left: str
    right: str
    result: str


class Attention(NamedTuple):
    """The queries of an attention, as `[batch, heads, length, head width]`, and what its module says of its heads."""

    place: Place
    queries: tuple[int, ...]
    declared_heads: frozenset[int]
    declared_widths: frozenset[int]


class Operations(TorchFunctionMode):
    """Sees every call of a torch function."""

    def __init__(self, device: str, root: str) -> None:
        super().__init__()
        self.device = device
        self.root = root
        self.failed: Failed | None = None
        self.broadcasts: list[Broadcast] = []
        self.attentions: list[Attention] = []
        self.declared: dict[int, torch.Tensor] = {}
        """Tensors with an axis of size 1 that somebody wrote down; held, so that their ids stay theirs."""
        self.watching = False

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever torch gives
        name = getattr(func, "__name__", "")
        if name == "__get__":
            return func(*args, **(kwargs or {}))
        args, kwargs = self.led_here(name, args, dict(kwargs or {}))
        if name in ("cuda", "cpu", "mps", "xpu") and args and isinstance(args[0], torch.Tensor):
            return args[0]
        try:
            result = func(*args, **kwargs)
        except Exception as error:
            if self.failed is None or not is_about(error, self.failed.error):
                self.failed = Failed(error, name, args, kwargs)
            raise
        if self.watching:
            self.watch(name, args, kwargs, result)
        return result

    def led_here(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Devices of the user's become the one that this run is on."""
        device = kwargs.get("device")
        if device is not None and self.is_elsewhere(device):
            kwargs["device"] = self.device
        if name == "to" and len(args) > 1 and self.is_elsewhere(args[1]):
            args = (args[0], self.device, *args[2:])
        return args, kwargs

    def is_elsewhere(self, device: object) -> bool:
        if isinstance(device, int) and not isinstance(device, bool):
            return True
        if not isinstance(device, (str, torch.device)):
            return False
        kind = str(device).partition(":")[0]
        return kind in ACCELERATORS or (self.device == "meta" and kind == "cpu")

    # ------------------------------------------------------------ a second look

    def declare_all(self, inputs: list[object], model: torch.nn.Module) -> None:
        """Axes of inputs are ours, those of buffers were written down when they were made."""
        for tensor in (*tensors_in(inputs), *model.buffers()):
            self.declared[id(tensor)] = tensor

    def watch(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: object) -> None:
        if name == "scaled_dot_product_attention" and isinstance(args[0], torch.Tensor):
            self.see_attention(tuple(args[0].shape))
        if not isinstance(result, torch.Tensor):
            for tensor in tensors_in(result):
                self.declare(name, args, kwargs, tensor)
            return
        if name in BROADCASTING and len(args) > 1:
            self.see_broadcast(name, args)
        self.declare(name, args, kwargs, result)

    def declare(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: torch.Tensor) -> None:
        if 1 not in result.shape:
            return
        written = (
            name in DECLARING
            or (name == "__getitem__" and len(args) > 1 and picks_one(args[1]))
            or kwargs.get("keepdim")
            or any(each is True for each in args[1:])
        )
        made = not any(isinstance(each, torch.Tensor) for each in args)
        if written or made or any(id(tensor) in self.declared for tensor in tensors_in(args)):
            self.declared[id(result)] = result

    def see_broadcast(self, name: str, args: tuple[Any, ...]) -> None:
        left, right = args[0], args[1]
        if (
            not isinstance(left, torch.Tensor)
            or not isinstance(right, torch.Tensor)
            or not left.dim()
            or not right.dim()
        ):
            return
        grown = torch.broadcast_shapes(left.shape, right.shape)
        if grown in (left.shape, right.shape):
            return
        if any(id(each) in self.declared or isinstance(each, torch.nn.Parameter) for each in (left, right)):
            return
        frame = self.users_frame()
        if frame is not None:
            place = Place(frame.f_code.co_filename, frame.f_lineno)
            sizes = "[" + ", ".join(map(str, grown)) + "]"
            self.broadcasts.append(Broadcast(place, name, sizes_text(left), sizes_text(right), sizes))

    def see_attention(self, queries: tuple[int, ...]) -> None:
        frame = self.users_frame()
        if frame is None or len(queries) != 4:
            return
        heads: set[int] = set()
        widths: set[int] = set()
        module = frame.f_locals.get("self")
        for name, value in vars(module).items() if isinstance(module, torch.nn.Module) else ():
            if isinstance(value, int) and not isinstance(value, bool):
                role = role_of(name)
                if role is not None and role.name in ("heads", "kv heads"):
                    heads.add(value)
                elif role is not None and role.name == "head width":
                    widths.add(value)
        place = Place(frame.f_code.co_filename, frame.f_lineno)
        self.attentions.append(Attention(place, queries, frozenset(heads), frozenset(widths)))

    def users_frame(self) -> types.FrameType | None:
        frame: types.FrameType | None = inspect.currentframe()
        while frame is not None and not is_users_file(frame.f_code.co_filename, self.root):
            frame = frame.f_back
        return frame


def picks_one(index: object) -> bool:
    """Whether an index writes down an axis of size 1: by `None`, by a slice of one, by a list."""
    written: list[object] = [index]
    elements = written if isinstance(index, list) else listed(index) or written
    return any(
        each is None or isinstance(each, list) or (isinstance(each, slice) and each != slice(None)) for each in elements
    )


def is_about(error: BaseException | None, earlier: BaseException) -> bool:
    """Whether `error` is `earlier`, or was raised because of it."""
    seen = 0
    while error is not None and seen < 20:
        if error is earlier:
            return True
        error = error.__cause__ or error.__context__
        seen += 1
    return False
