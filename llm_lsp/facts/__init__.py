"""What a program does with models, tokenizers, tensors, optimizers and generators.

`Facts` is all that a rule sees. The interpreter behind it (`interpreter.py`, in layers down to `values.py`) runs the
module once, abstractly; the questions here only read what it wrote down.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cached_property

from llm_lsp.facts.events import CallRecord, Frame
from llm_lsp.facts.interpreter import Interpreter
from llm_lsp.facts.machine import Stopped
from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer, set_answer_hook
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Value, options
from llm_lsp.facts.views import Argument, Call, Choice, Loaded, constants_of
from llm_lsp.knowledge import library
from llm_lsp.source import Source
from llm_lsp.world import World

__all__ = [
    "NO",
    "UNKNOWN",
    "YES",
    "Argument",
    "Call",
    "Choice",
    "Facts",
    "Loaded",
    "Place",
    "Stopped",
    "Truth",
    "set_answer_hook",
]


class Facts:
    """What is known of one file."""

    def __init__(self, source: Source, world: World, stop: Callable[[], bool] | None = None) -> None:
        self.source = source
        self.world = world
        self.machine = Interpreter(source.tree, source.text, stop)
        self.machine.run_module()
        self._records = list(self.machine.calls.values())

    def close(self) -> None:
        """Let go of everything; no question may be asked afterwards."""
        self.machine.clear()
        self._records.clear()

    # ------------------------------------------------------------ places

    def place(self, node: ast.AST) -> Place:
        found = self.source.range_of(node)
        return Place(self.source.path, found, self.source.segment(found))

    def text_of(self, node: ast.AST) -> str:
        """The text of an expression."""
        return self.source.segment(self.source.range_of(node))

    def place_of_argument(self, node: ast.AST, name: str, position: int | None) -> Place | None:
        """Where an argument stands in the call, with its keyword."""
        if not isinstance(node, ast.Call):
            return None
        for keyword in node.keywords:
            if keyword.arg == name:
                return self.place(keyword)
        if (
            position is not None
            and position < len(node.args)
            and not any(isinstance(a, ast.Starred) for a in node.args)
        ):
            return self.place(node.args[position])
        return None

    # ------------------------------------------------------------ calls

    def calls(self, *names: str) -> Iterator[Call]:
        """The calls of functions with these qualified names, or of methods with these bare names."""
        wanted = frozenset(names)
        for record in self._records:
            if record.name in wanted:
                yield Call(self, record)

    def forwards(self) -> Iterator[Call]:
        """The calls of a model, or of what is one by the way it is used."""
        for record in self._records:
            if record.name == "()" and isinstance(record.receiver, Object) and self.is_model(record.receiver) is YES:
                yield Call(self, record)

    def tokenizations(self) -> Iterator[Call]:
        """The calls that turn text into ids."""
        for record in self._records:
            if (
                record.name in _TOKENIZATIONS
                and isinstance(record.receiver, Object)
                and self.is_tokenizer(record.receiver)
            ):
                yield Call(self, record)

    # ------------------------------------------------------------ kinds

    def is_model(self, value: Object) -> Truth:
        """Whether it is a module that computes: by its class, or by two independent uses."""
        kind = self.machine.kind(value)
        if kind is not None:
            return answer(YES if kind in {"model", "module"} else NO)
        if not value.is_outside or isinstance(value.cls, (str, Class)):
            return answer(UNKNOWN)
        uses = self.machine.uses.get(value.id, frozenset())
        is_one = "()" in uses and bool(uses & _USES_OF_A_MODEL)
        return answer(YES if is_one else UNKNOWN)

    def is_tokenizer(self, value: Object) -> bool:
        return self.machine.kind(value) == "tokenizer"

    # ------------------------------------------------------------ checkpoints

    def choices(self, value: Value) -> list[Choice]:
        """The constants that a value may be; empty if something else may be too."""
        known = constants_of(value)
        if known is None:
            return []
        return [
            Choice(one.value, None if one.node is None else self.place(one.node), conditions, is_default=one.may)
            for one, conditions in known
        ]

    def loaded(self, value: Object) -> Loaded | None:
        """How the program loads a model or tokenizer, where every name that it may be loaded by is known."""
        record = self.machine.calls.get(value.call) if value.call is not None else None
        if (
            record is None
            or record.arguments.get("subfolder") is not None
            or record.arguments.get("gguf_file") is not None
        ):
            return None
        call = Call(self, record)
        key = "model" if record.name.endswith(".pipeline") else "pretrained_model_name_or_path"
        argument = call.argument(key, 1 if key == "model" else 0)
        names = self.choices(argument.value) if argument is not None else []
        if argument is None or not names or not all(isinstance(name.value, str) for name in names):
            return None
        return Loaded(value, call, argument, tuple(names))

    def tokenizers_in(self, values: list[Value]) -> Iterator[tuple[Object, Place]]:
        """The tokenizers that the values come from, or are, each once, with the place where it is used."""
        seen: set[int] = set()
        pending = list(values)
        depth = 0
        while pending and depth < _DEEPEST_ARGUMENT:
            depth += 1
            following: list[Value] = []
            for value in pending:
                for option, _ in options(value):
                    if isinstance(option, Object) and self.is_tokenizer(option) and option.id not in seen:
                        seen.add(option.id)
                        yield option, self.place(option.node)
                    made_by = option.call if isinstance(option, (Opaque, Object)) else None
                    made = self.machine.calls.get(made_by) if made_by is not None else None
                    if made is not None and made.name.rpartition(".")[2].startswith("DataCollator"):
                        following.extend(made.arguments.values())
                for source in sorted(self.machine.flow(value)):
                    record = self.machine.calls.get(source)
                    if record is None or record.name not in _TOKENIZATIONS:
                        continue
                    receiver = record.receiver
                    if isinstance(receiver, Object) and self.is_tokenizer(receiver) and receiver.id not in seen:
                        seen.add(receiver.id)
                        yield receiver, self.place(record.node)
            pending = following

    # ------------------------------------------------------------ absence

    @cached_property
    def is_whole(self) -> bool:
        """Whether nothing of the file is hidden: no masked line, no star import, no spent budget."""
        return not self.source.masked and not self.machine.has_star_import and self.machine.is_complete

    def never_calls(self, *names: str) -> Truth:
        """YES if no call of these names is made and nothing unknown could make one."""
        if any(record.name in names for record in self._records):
            return answer(NO)
        return answer(YES if self.is_whole else UNKNOWN)


_TOKENIZATIONS = frozenset({"()", "encode", "encode_plus", "batch_encode_plus", "apply_chat_template"})
_USES_OF_A_MODEL = frozenset(
    {"eval", "train", "parameters", "state_dict", "zero_grad", "named_parameters", "generate", "requires_grad_"}
)
_DEEPEST_ARGUMENT = 3


__all__ += ["CallRecord", "Constant", "Frame", "library"]
