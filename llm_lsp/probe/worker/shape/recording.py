"""One row for each module that ran: what went in, what came out, where it was called."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from .describing import dtype_text, shapes_text, tensors_in
from .importing import is_users_file

Hook = Callable[..., None]


class Row:
    """A module of the model, as it ran."""

    def __init__(self, name: str, module: nn.Module) -> None:
        self.name = name
        self.module = module
        self.calls = 0
        self.entered: str | None = None
        self.left: str | None = None
        self.dtype: str | None = None
        self.file: str | None = None
        self.line: int | None = None


class Progress(NamedTuple):
    """How many of the modules have run."""

    done: int
    total: int


class Recorder:
    """Watches the modules of a model while it runs once."""

    def __init__(self, model: nn.Module, root: str, progress: Callable[[Progress], None]) -> None:
        self.rows: dict[str, Row] = {}
        self.finished = 0
        """Modules without children that have run to their end."""
        self.root = root
        self.progress = progress
        modules = list(model.named_modules())
        self.total = len(modules)
        self.handles: list[RemovableHandle] = []
        for name, module in modules:
            is_leaf = not any(True for _ in module.children())
            self.handles.append(module.register_forward_pre_hook(self.before(name), with_kwargs=True))
            self.handles.append(module.register_forward_hook(self.after(name, is_leaf=is_leaf), with_kwargs=True))

    def before(self, name: str) -> Hook:
        def hook(module: nn.Module, arguments: tuple[object, ...], named: Mapping[str, object]) -> None:
            row = self.rows.get(name)
            if row is None:
                row = self.rows[name] = Row(name, module)
                row.entered = shapes_text((*arguments, *named.values()))
                frame = self.caller()
                if frame is not None:
                    row.file, row.line = frame.f_code.co_filename, frame.f_lineno
            row.calls += 1

        return hook

    def after(self, name: str, *, is_leaf: bool) -> Hook:
        def hook(module: nn.Module, arguments: tuple[object, ...], named: Mapping[str, object], output: object) -> None:
            row = self.rows[name]
            if row.left is None:
                row.left = shapes_text(output)
                row.dtype = next((dtype_text(tensor) for tensor in tensors_in(output)), None)
                if len(self.rows) % 16 == 0:
                    self.progress(Progress(len(self.rows), self.total))
            if is_leaf:
                self.finished += 1

        return hook

    def caller(self) -> types.FrameType | None:
        """The frame in the user's files that called the module."""
        frame: types.FrameType | None = inspect.currentframe()
        while frame is not None and not is_users_file(frame.f_code.co_filename, self.root):
            frame = frame.f_back
        return frame

    def close(self) -> None:
        for handle in self.handles:
            handle.remove()

    def as_rows(self, classes: Mapping[str, int], path: str, flops: Mapping[str, int]) -> list[dict[str, object]]:
        """The rows as plain values; a module whose caller isn't the user's is shown where its class is defined."""
        return [
            {
                "name": row.name,
                "type": type(row.module).__name__,
                "file": row.file or (path if type(row.module).__name__ in classes else None),
                "line": row.line or classes.get(type(row.module).__name__),
                "calls": row.calls,
                "in": row.entered,
                "out": row.left,
                "dtype": row.dtype,
                "params": parameters_of(row.module),
                "flops": flops.get(row.name),
            }
            for row in self.rows.values()
        ]


def parameters_of(module: nn.Module) -> int:
    """Parameters, each counted once however often it is shared."""
    return sum(count_of(parameter) for parameter in module.parameters())


def count_of(parameter: torch.Tensor) -> int:
    try:
        return parameter.numel()
    except ValueError:
        # Of a lazy module that hasn't run.
        return 0
