"""Errors explained: the last line of the user's that was running, its columns, the operation and its operands."""

from __future__ import annotations

import ast
import linecache
import re
import types
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, cast

import torch

from .configs import NoValueError
from .describing import sizes_text
from .expressions import NotPlainError
from .importing import is_users_file
from .operations import Failed, is_about
from .wording import Operation, message_of, operand_texts

UNPACKED = re.compile(r"(?:not enough|too many) values to unpack \(expected (\d+)(?:, got (\d+))?\)")
BEFORE_INIT = "before Module.__init__() call"
"""Words of torch's for whatever is assigned to a module that is none yet."""
LONGEST_MESSAGE = 200


class Frame(NamedTuple):
    """A line of the user's; lines count from 1, columns from 0, in characters."""

    file: str
    line: int
    column: int | None
    end_line: int | None
    end_column: int | None
    function: str
    tensors: dict[str, str]

    def as_value(self) -> dict[str, object]:
        return {
            "file": self.file,
            "line": self.line,
            "col": self.column,
            "end_line": self.end_line,
            "end_col": self.end_column,
            "function": self.function,
            "tensors": self.tensors,
        }


class Explained(NamedTuple):
    """An error in our words."""

    message: str
    operation: str | None
    operands: list[str]
    frames: list[Frame]
    """From the outermost to the one that failed; the user's files only."""
    is_raised_by_user: bool
    """A `raise` or an `assert` of the user's: a check of what it was called with."""
    kind: str
    """The class of the exception."""

    @property
    def place(self) -> tuple[str, int] | None:
        return (self.frames[-1].file, self.frames[-1].line) if self.frames else None

    def as_value(self) -> dict[str, object]:
        return {
            "message": self.message,
            "op": self.operation,
            "operands": self.operands,
            "frames": [frame.as_value() for frame in self.frames],
        }


def explain(error: BaseException, root: str, failed: Failed | None) -> Explained:
    """The error, its place in the user's files, and the operation if a torch function raised it."""
    frames = users_frames(error, root)
    operation = None
    if failed is not None and is_about(error, failed.error):
        operation = Operation(failed.name, failed.arguments, failed.named)
    return Explained(
        message(error, operation, frames),
        operation.name if operation is not None else None,
        operand_texts(operation) if operation is not None else [],
        frames,
        is_raised_by_user=operation is None and bool(frames) and is_raise(frames[-1], error, root),
        kind=type(error).__name__,
    )


def message(error: BaseException, operation: Operation | None, frames: list[Frame]) -> str:
    if operation is not None:
        found = message_of(operation)
        if found is not None:
            return found
        if operation.tensors:
            return f"`{operation.name}` can't take {' and '.join(operand_texts(operation))}"
    unpacked = UNPACKED.match(str(error)) if isinstance(error, ValueError) else None
    if unpacked is not None and frames:
        text = linecache.getline(frames[-1].file, frames[-1].line)
        tensor = re.search(r"=\s*(\w+)\.(?:shape|size\(\))", text)
        shape = frames[-1].tensors.get(tensor[1]) if tensor is not None else None
        if tensor is not None and shape is not None:
            return f"`{tensor[1]}` is {shape}: {shape.count(',') + 1} axes, unpacked into {unpacked[1]} names"
    if BEFORE_INIT in str(error):
        return "`super().__init__()` is missing, or comes too late: a module takes nothing before it"
    if isinstance(error, NoValueError):
        return str(error)
    if isinstance(error, NotPlainError):
        return f"not evaluated, for only literals, names and constructors are: {error}"
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first}"[:LONGEST_MESSAGE] if first else type(error).__name__


def users_frames(error: BaseException, root: str) -> list[Frame]:
    found: list[Frame] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_users_file(code.co_filename, root):
            found.append(frame_at(trace, code))
        trace = trace.tb_next
    return found


def frame_at(trace: types.TracebackType, code: types.CodeType) -> Frame:
    line: int = trace.tb_lineno
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    positions = getattr(code, "co_positions", None)
    if positions is not None and trace.tb_lasti >= 0:
        at = cast("Iterator[tuple[int | None, ...]]", islice(positions(), trace.tb_lasti // 2, None))
        whole = [number for number in next(at, ()) if number is not None]
        if len(whole) == 4:
            line, end_line = whole[:2]
            column = characters(code.co_filename, line, whole[2])
            end_column = characters(code.co_filename, end_line, whole[3])
    tensors = {
        name: sizes_text(value) for name, value in trace.tb_frame.f_locals.items() if isinstance(value, torch.Tensor)
    }
    function = getattr(code, "co_qualname", code.co_name)
    return Frame(code.co_filename, line, column, end_line, end_column, function.replace("<locals>.", ""), tensors)


def characters(file: str, line: int, column: int) -> int:
    """Code knows columns as bytes of UTF-8."""
    return len(linecache.getline(file, line).encode()[:column].decode(errors="ignore"))


def is_raise(frame: Frame, error: BaseException, root: str) -> bool:
    """Whether the last frame of all is the user's, and stands at a `raise` or an `assert`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not is_users_file(trace.tb_frame.f_code.co_filename, root):
        # A library's own check.
        return False
    try:
        tree = ast.parse("".join(linecache.getlines(frame.file)))
    except SyntaxError:
        return True
    for node in ast.walk(tree):
        if isinstance(node, (ast.Raise, ast.Assert)) and node.lineno <= frame.line <= (node.end_lineno or node.lineno):
            return True
    return False
