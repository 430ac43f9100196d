"""What is said between a worker and whoever asks it, as plain values.

On the wire each is one JSON object a line; keys of a result that are not known yet, or say nothing, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypedDict, cast

__all__ = [
    "Assumption",
    "Done",
    "Error",
    "Event",
    "Frame",
    "Notice",
    "Output",
    "Partial",
    "Progress",
    "Ready",
    "Request",
    "Result",
    "Row",
    "Shape",
    "Totals",
    "outcomes",
    "read_event",
]

WALL_SECONDS = 20.0
MEGABYTES = 4096.0


class Request(NamedTuple):
    """A question: which shapes go through a model class."""

    file: Path
    target: str | Mapping[str, object] | None
    """A class; None for every module class of the file; `{"checkpoint", "class", "line"}` for a library's model."""
    workspace: Path | None = None
    args: str | None = None
    """As in a `# probe:` comment, such as `GPT(config)(idx=int[2,16])`."""
    wall_seconds: float = WALL_SECONDS
    megabytes: float = MEGABYTES
    cuda: bool = False

    def as_message(self, number: int) -> dict[str, object]:
        """The request on the wire."""
        return {
            "id": number,
            "op": "shape",
            "file": str(self.file),
            "target": self.target if self.target is None or isinstance(self.target, str) else dict(self.target),
            "workspace": None if self.workspace is None else str(self.workspace),
            "args": self.args,
            "limits": {"wall_s": self.wall_seconds, "mem_mb": self.megabytes},
            "cuda": self.cuda,
        }


class Frame(TypedDict, total=False):
    """A place in the user's program; lines count from 1, columns from 0 in characters, an end is exclusive."""

    file: str
    line: int
    col: int | None
    end_line: int | None
    end_col: int | None
    function: str
    tensors: dict[str, str]


class Error(TypedDict, total=False):
    """What failed; the frames from the outermost to the one that failed."""

    message: str
    op: str | None
    operands: list[str]
    frames: list[Frame]


Row = TypedDict(
    "Row",
    {
        "name": str,
        "type": str,
        "file": "str | None",
        "line": "int | None",
        "calls": int,
        "in": "str | None",
        "out": "str | None",
        "dtype": "str | None",
        "params": int,
        "flops": "int | None",
    },
    total=False,
)
"""A submodule; the model itself has the empty name."""


class Totals(TypedDict, total=False):
    """Of the whole model; bytes by what they are for."""

    params: int
    flops: int | None
    bytes: dict[str, int | None]
    kv_cache_length: int | None


class Assumption(TypedDict, total=False):
    """What was not said and so was chosen, and by what."""

    what: str
    value: str
    source: str
    line: int


class Notice(TypedDict, total=False):
    """Something worth knowing that is no error."""

    kind: str
    message: str
    file: str | None
    line: int | None


class Shape(TypedDict, total=False):
    """Of a name that is assigned in `forward`."""

    file: str
    line: int
    name: str
    shape: str


class Result(TypedDict, total=False):
    """What a run has found out."""

    target: str | dict[str, Any] | None
    via: str
    method: str
    confirmed: bool
    assumptions: list[Assumption]
    inputs: dict[str, str]
    outputs: str | None
    rows: list[Row]
    totals: Totals
    error: Error
    notices: list[Notice]
    shapes: list[Shape]
    paste: str | None
    problem: str
    missing: list[str]
    classes: list[dict[str, Any]]
    """Where every class of a file was asked for: `{"status", "result"}` of each."""
    timing: dict[str, float]


class Ready(NamedTuple):
    """The worker has imported torch."""

    python: str
    torch: str
    transformers: str | None
    fork: bool


class Progress(NamedTuple):
    """How far a run has come: its stage, `start`, `import`, `construct` or `forward`, and there so many of so many."""

    stage: str
    done: int
    total: int


class Output(NamedTuple):
    """What the program has printed."""

    text: str


class Partial(NamedTuple):
    """A result that is not complete yet."""

    result: Result


class Done(NamedTuple):
    """How a run ended."""

    status: str
    """`ok`, `user_error`, `needs_args`, `missing_package`, `unsupported`, `exit`, `timeout`, `memory`, `crash`,
    `cancelled` or `no_torch`."""
    result: Result

    def as_message(self) -> dict[str, object]:
        """As the command line prints it."""
        return {"status": self.status, "result": self.result}

    @classmethod
    def failed(cls, status: str, message: str) -> Done:
        """An end without a result."""
        return cls(status, {"error": {"message": message, "op": None, "operands": [], "frames": []}})


Event = Ready | Progress | Output | Partial | Done


def read_event(message: Mapping[str, Any]) -> Event | None:
    """An event from the wire; None for one that means nothing here."""
    match message:
        case {"event": "ready"}:
            version = message.get("transformers")
            return Ready(
                str(message.get("python")),
                str(message.get("torch")),
                version and str(version),
                bool(message.get("fork")),
            )
        case {"event": "progress", "stage": str(stage), "done": int(done), "total": int(total)}:
            return Progress(stage, done, total)
        case {"event": "output", "text": str(text)}:
            return Output(text)
        case {"event": "result", "result": dict()}:
            return Partial(cast("Result", message["result"]))
        case {"event": "done", "status": str(status), "result": dict()}:
            return Done(status, cast("Result", message["result"]))
        case {"event": "no_torch"}:
            return Done.failed("no_torch", without_torch(str(message.get("python")), str(message.get("message"))))
        case _:
            return None


def without_torch(python: str, message: str) -> str:
    """What is wrong with an interpreter, and the way out."""
    return (
        f"{message} in {python}: name another interpreter with `--python`, or with the setting `python` (in an editor "
        "`interpreter`)"
    )


def outcomes(done: Done) -> list[Done]:
    """The outcome of each class: one, unless every class of a file was asked for."""
    classes = done.result.get("classes")
    if classes is None:
        return [done]
    return [Done(str(each.get("status")), cast("Result", each.get("result") or {})) for each in classes]
