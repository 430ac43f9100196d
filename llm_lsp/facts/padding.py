"""On which side the prompts of a decoder-only model are padded."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.checkpoints import checkpoints_of, is_changed_unseen
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Tuple, Value, options
from llm_lsp.knowledge import inputs

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.views import Call
    from llm_lsp.knowledge.checkpoint import Known

__all__ = ["TOKENIZES", "PaddedPrompts", "is_decoder_only", "is_of_several_texts", "padded_prompts", "pads"]

_PADS_TO_LONGEST = (True, "longest")
TOKENIZES = frozenset({"()", "batch_encode_plus", "encode_plus", "encode", "pad", "apply_chat_template"})
_DECODER_ONLY = ("ForCausalLM", "LMHeadModel", "ForCausalLMWithValueHead")
_NO_BATCHES = (
    "ss",
    "us",
    "is",
    "news",
    "messages",
    "args",
    "ids",
    "chars",
    "inputs",
    "instructions",
    "words",
    "tokens",
)
"""How the names of single things end, although they look like a plural."""


class PaddedPrompts:
    """Padded texts that a decoder-only model continues."""

    __slots__ = ("_facts", "_record", "_value", "tokenizer")

    def __init__(self, facts: Facts, record: CallRecord, tokenizer: Object, side: Value | None) -> None:
        self._facts = facts
        self._record = record
        self._value = side if side is not None else Opaque()
        self.tokenizer = facts.loaded(tokenizer)
        """How the tokenizer is loaded, where its name is known."""

    @property
    def place(self) -> Place:
        """The call that pads."""
        return self._facts.place(self._record.node)

    @property
    def is_padded_right(self) -> Truth:
        """Whether the padding stands after the texts, where the model would go on."""
        sides = {self._side(option) for option, _ in options(self._value)}
        return answer(YES if sides == {"right"} else NO if sides == {"left"} else UNKNOWN)

    @property
    def written(self) -> Place | None:
        """The text that asks for the right side, where it is written in this module."""
        value = self._value
        node = value.node if isinstance(value, Constant) else None
        place = self._facts.place(node) if isinstance(node, ast.Constant) else None
        return place if place is not None and place.path == self._facts.source.path else None

    @property
    def load(self) -> Place | None:
        """The call of this module that loads the tokenizer, where nothing in the program asks for a side."""
        loaded = self.tokenizer
        if loaded is None or isinstance(self._value, Constant):
            return None
        return loaded.load.place if loaded.load.place.path == self._facts.source.path else None

    @property
    def side_place(self) -> Place | None:
        """What decides on the side: the text that asks for it, or the load."""
        return self.written or self.load

    @property
    def is_certain(self) -> bool:
        """Whether the program, or a file of the checkpoint, says on which side is padded."""
        known = self._known_sides() if not isinstance(self._value, Constant) else []
        return all(side.confirmed for side in known)

    def _side(self, value: Value) -> str | None:
        if isinstance(value, Constant):
            return str(value.value) if value.value is not None else None
        owner = value.parent if isinstance(value, Object) and value.name == "padding_side" else None
        if owner is None or is_changed_unseen(self._facts, owner, ()):
            return None
        if ".padding_side" in self._facts.machine.uses.get(owner.id, ()) and not self._record.frame.is_of_script:
            return None  # another function sets it, perhaps before this one
        found = {side.value for side in self._known_sides()}
        return found.pop() if len(found) == 1 else None

    def _known_sides(self) -> list[Known[str]]:
        """The side of each checkpoint that the tokenizer may be loaded from; empty if one is unknown."""
        loaded = self.tokenizer
        if loaded is None or not loaded.load.record.arguments.is_complete:
            return []
        sides = [inputs.padding_side(one) for one in checkpoints_of(self._facts, loaded.names) or []]
        known = [side for side in sides if side is not None]
        return known if len(known) == len(sides) else []


def padded_prompts(facts: Facts, call: Call) -> Iterator[PaddedPrompts]:
    """The batches of padded texts that a call of `generate` continues, if its model is decoder-only."""
    if not is_decoder_only(facts, call.record):
        return
    for id in sorted(call.record.flow):
        record = facts.machine.calls.get(id)
        tokenizer = record.receiver if record is not None else None
        if record is not None and isinstance(tokenizer, Object) and facts.is_tokenizer(tokenizer) and pads(record):
            asked = record.arguments.get("padding_side") or record.state.get("padding_side")
            yield PaddedPrompts(facts, record, tokenizer, asked)
        elif record is not None and record.name.endswith(".DataCollatorWithPadding"):
            tokenizer = record.arguments.get("tokenizer", 0)
            if isinstance(tokenizer, Object) and ".padding_side" not in facts.machine.uses.get(tokenizer.id, ()):
                side = facts.machine.heap.get((tokenizer.id, "padding_side"))
                yield PaddedPrompts(facts, record, tokenizer, side)


def is_decoder_only(facts: Facts, record: CallRecord) -> bool:
    model = record.receiver
    if not isinstance(model, Object) or not isinstance(model.cls, str) or not model.cls.endswith(_DECODER_ONLY):
        return False
    loaded = facts.loaded(model)
    known = checkpoints_of(facts, loaded.names) if loaded is not None else None
    return not any(one.is_encoder_decoder is not None and one.is_encoder_decoder.value for one in known or ())


def pads(record: CallRecord) -> bool:
    """Whether the tokenization certainly pads: to a fixed length, or several texts to the longest."""
    if record.name == "pad":
        return record.arguments.is_complete and "padding" not in record.arguments.keywords
    padding = record.arguments.get("padding")
    asked = padding.value if record.name in TOKENIZES and isinstance(padding, Constant) else None
    return asked == "max_length" or (asked in _PADS_TO_LONGEST and is_of_several_texts(record))


def is_of_several_texts(record: CallRecord) -> bool:
    """Whether a list of texts goes in; what comes from outside is one if its name is a plural."""
    if record.name in {"apply_chat_template", "encode", "encode_plus"}:
        return False
    if record.name == "batch_encode_plus" and not isinstance(
        record.arguments.get("batch_text_or_text_pairs", 0), Object
    ):
        return True
    node = record.node
    if not isinstance(node, ast.Call) or "is_split_into_words" in record.arguments.keywords:
        return False
    text = record.arguments.get("text", 0) or record.arguments.get("batch_text_or_text_pairs", 0)
    written = next((keyword.value for keyword in node.keywords if keyword.arg == "text"), None)
    written = written or (node.args[0] if node.args else None)
    choices = [option for option, _ in options(text)] if text is not None else []
    return bool(choices) and (_gives_windows(record) or all(_is_several(option, written) for option in choices))


def _gives_windows(record: CallRecord) -> bool:
    """Whether a text that is too long becomes several rows."""
    overflow = record.arguments.get("return_overflowing_tokens")
    return isinstance(overflow, Constant) and overflow.value is True and not overflow.may


def _is_several(text: Value, written: ast.expr | None) -> bool:
    if isinstance(text, Tuple):
        return len(text.items) > 1
    if isinstance(text, Constant):
        return False
    if isinstance(text, Object) and text.cls == "builtins.list":
        # One that begins empty is filled with several.
        return not isinstance(text.node, ast.List) or len(text.node.elts) != 1
    if isinstance(text, Opaque) and text.cls in {"builtins.list", "builtins.tuple"}:
        return True
    name = _last_name(written).lower().rstrip("_0123456789")  # `texts_2` are texts
    return name.startswith("batch") or name.endswith("batch") or (name.endswith("s") and not name.endswith(_NO_BATCHES))


def _last_name(node: ast.expr | None) -> str:
    """What an expression is called: a variable, an attribute, the key of an item, or what is sliced."""
    if isinstance(node, ast.Subscript):
        inner = _last_name(node.value)
        if isinstance(node.slice, ast.Slice) or "batch" in inner:
            return inner
        return str(node.slice.value) if isinstance(node.slice, ast.Constant) else ""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
