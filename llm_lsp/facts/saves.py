"""What the processes of one training write to disk: whether all of them write the same file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.guards import mention
from llm_lsp.facts.modes import is_same_object
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.updates import BACKWARDS, is_statement
from llm_lsp.facts.values import Function, Object, Opaque, Symbol
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.call_index import CallIndex
    from llm_lsp.facts.choices import Argument
    from llm_lsp.facts.events import CallRecord, Frame

__all__ = ["Save", "saves"]

_RANKS = (
    "rank",
    "gpu",
    "is_main",
    "main_proc",
    "master",
    "primary",
    "process",
    "chief",
    "leader",
    "coordinator",
    "zero",
    "worker",
    "device_id",
)
"""Words of tests, decorators and paths that tell one process from another."""
_SAYS_RANK = re.compile("|".join(_RANKS))
_SAVES_IN_PARTS = re.compile(
    r"deepspeed|distributed\.checkpoint|dist_cp|Sharded|LOCAL_STATE_DICT|xla|horovod|accelerat|Lightning|Fabric"
)
"""Words of programs whose processes save parts of one checkpoint, or whose library asks which process it is."""
_NO_FILE = re.compile(r"[\w.]*(buf|stream|bytes|tmp|temp)\w*|f|fp|fh|fd|file|handle|os\.devnull", re.IGNORECASE)
_PATHS = re.compile(r"dir|path|folder|file|out|exists|isdir|isfile", re.IGNORECASE)
_HARMLESS_CALLS = frozenset({"len", "isinstance", "getattr", "hasattr", "exists", "isdir", "isfile", "is_dir", "is_file", "int", "float", "min", "max", "item", "get", "isnan", "isfinite", "is_available", "is_initialized"})  # fmt: skip


class Save:
    """A call that writes a checkpoint, on one chain of callers."""

    __slots__ = ("_facts", "_of_root", "call")

    def __init__(self, facts: Facts, call: Call, of_root: CallIndex) -> None:
        self._facts = facts
        self._of_root = of_root
        self.call = call

    @property
    def is_reached_by_all(self) -> Truth:
        """Whether all processes of a distributed training come here: what leads here begins one, or works together."""
        works_together = any(not self._is_for_one(record) for record in self._of_root.named(library.OF_ALL_PROCESSES))
        return answer(YES if works_together or (self._is_made_for_all and self._trains) else UNKNOWN)

    @property
    def _trains(self) -> bool:
        return bool(self._of_root.named(BACKWARDS))

    @property
    def _is_made_for_all(self) -> bool:
        """Whether the object whose method leads here was made with others of other processes."""
        owner = self.call.record.frame.root.receiver
        return isinstance(owner, Object) and any(
            any(_makes(frame, owner) for frame in record.frame.chain())
            for record in self._facts.index.named(library.OF_ALL_PROCESSES)
        )

    @property
    def is_for_one(self) -> Truth:
        """Whether only one process writes, or each a file of its own: NO if every test on the way here is of something else."""
        facts, record = self._facts, self.call.record
        if not facts.is_whole or facts.is_test_module or _SAVES_IN_PARTS.search(facts.machine.text):
            return answer(UNKNOWN)
        if self._is_for_one(record) or self._has_its_own_file or not is_statement(facts, self.call):
            return answer(UNKNOWN)
        is_open = any(map(self._may_ask_for_rank, (test for test, _ in record.guards)))
        return answer(UNKNOWN if is_open or any(map(_is_decorated, record.frame.chain())) else NO)

    def _is_for_one(self, record: CallRecord) -> bool:
        """Whether a test on the way there tells processes apart."""
        return mention(self._facts, (test for test, _ in record.guards), _RANKS)

    def _may_ask_for_rank(self, test: ast.expr) -> bool:
        """Whether a test calls what nobody sees, or is a flag that somebody else has set."""
        text = self._facts.text_of(test)
        if isinstance(test, ast.UnaryOp):
            return self._may_ask_for_rank(test.operand)
        if isinstance(test, ast.BoolOp):
            return any(map(self._may_ask_for_rank, test.values))
        if isinstance(test, (ast.Name, ast.Attribute)):
            return not _PATHS.search(text)
        called = [node.func for node in ast.walk(test) if isinstance(node, ast.Call)]
        names = (node.id if isinstance(node, ast.Name) else getattr(node, "attr", "") for node in called)
        return any(name not in _HARMLESS_CALLS for name in names)

    @property
    def _has_its_own_file(self) -> bool:
        """Whether the path speaks of the process, or is none."""
        written = self._written
        if written is None:
            return True
        place = written.value_place
        path = place.text if place is not None else ""
        is_buffer = isinstance(written.value, Opaque) and written.value.cls in {"io.BytesIO", "builtins.open"}
        if is_buffer or _NO_FILE.fullmatch(path) or _SAYS_RANK.search(path):
            return True
        names = set(re.findall(r"\b[A-Za-z_]\w*\b", path))
        assigned = re.findall(
            r"^\s*(?:self\.)?(\w+)\s*=[^=].*(?:rank|process|gpu).*$", self._facts.machine.text, re.MULTILINE
        )
        return not names.isdisjoint(assigned)

    @property
    def _written(self) -> Argument | None:
        """The argument that says where to."""
        if self.call.name == "save_pretrained":
            is_told = {"is_main_process", "save_function"} & self.call.record.arguments.keywords.keys()
            return None if is_told else self.call.argument("save_directory", 0)
        return self.call.argument("f", 1) or self.call.argument("filename", 1)

    @property
    def asks_for_rank(self) -> str | None:
        """A test that holds in one process only, as this module writes it; None where it imports nothing that leads there."""
        name = "torch.distributed.get_rank"
        return f"{self._facts.spelled(name)}() == 0" if self._facts.can_be_spelled(name) else None


def saves(facts: Facts) -> Iterator[Save]:
    """The calls that write a checkpoint, where something of the program is of several processes."""
    if not any(True for _ in facts.calls(*library.OF_ALL_PROCESSES)):
        return
    for call in facts.calls(*library.SAVES, "save_pretrained"):
        if call.name in library.SAVES or isinstance(call.record.receiver, Object):
            yield Save(facts, call, facts.index.under(call.record.frame.root))


def _makes(frame: Frame, owner: Object) -> bool:
    """Whether the frame is that of the `__init__` of an object."""
    return frame.function is not None and frame.function.name == "__init__" and is_same_object(frame.receiver, owner)


def _is_decorated(frame: Frame) -> bool:
    """Whether something may stand between the function and its callers that tells processes apart."""
    decorators = frame.function.decorators if isinstance(frame.function, Function) else ()
    return any(not (isinstance(each, (Symbol, Opaque)) and _is_harmless(each)) for each in decorators)


def _is_harmless(decorator: Symbol | Opaque) -> bool:
    name = decorator.name if isinstance(decorator, Symbol) else decorator.cls
    return name in library.SWITCHES or str(name).startswith(
        ("builtins.", "click.", "torch.distributed.elastic", "hydra.")
    )
