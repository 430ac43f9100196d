"""Ends of texts that are taken out of the labels along with the padding, since one token stands for both."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from llm_lsp.facts.checkpoints import checkpoints_of
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Value, options
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["MaskedEnds", "masked_ends"]

_COLLATOR = "transformers.DataCollatorForLanguageModeling"
_ENDS = frozenset({"eos_token", "eos_token_id"})
_WRITTEN_ENDS = ("</s>", "<|endoftext|>", "<|end_of_text|>", "<|im_end|>", "<|eot_id|>", "<eos>")
_PACKS = ("pack", "group", "chunk", "concat", "block")
"""Words in the names of functions that cut a stream of texts into pieces of one length, which nobody pads."""
_FILLS = frozenset({"masked_fill", "masked_fill_", "where"})
_TAKES_ENDS = frozenset({"append", "extend", "insert", "format", "join"})
_NO_TEXT = frozenset({"pad_token", "pad_token_id", "eos_token_id", "stop", "stop_token_ids", "bad_words_ids"})
"""Keywords behind which an end of text is no part of a text."""


class MaskedEnds:
    """What sets labels to -100 by the id of a tokenizer's pad token."""

    __slots__ = ("_facts", "_node", "_state", "_taken", "_tokenizer")

    def __init__(
        self, facts: Facts, node: ast.AST, tokenizer: Object, state: Mapping[str, Value], taken: int | None
    ) -> None:
        self._facts = facts
        self._node = node
        self._tokenizer = tokenizer
        self._state = state
        """What was set on the tokenizer then."""
        self._taken = taken
        """The call that made the collator, if it is one that does it."""

    @property
    def place(self) -> Place:
        return self._facts.place(self._node)

    @property
    def is_of_collator(self) -> bool:
        return self._taken is not None

    @property
    def load_place(self) -> Place | None:
        """The load of the tokenizer, where this module has it."""
        loaded = self._facts.loaded(self._tokenizer)
        place = loaded.load.place if loaded is not None else None
        return place if place is not None and place.path == self._facts.source.path else None

    @property
    def tokenizer_text(self) -> str | None:
        """The variable or attribute that the tokenizer is loaded into."""
        made = self._facts.machine.calls.get(self._tokenizer.call or 0)
        return self._facts.target_of(made.node) if made is not None else None

    @property
    def pads_with_end(self) -> Truth:
        """Whether the tokenizer pads with the token that ends texts; NO where it has another one."""
        if self._tokenizer.id in self._facts.machine.escaped or not self._facts.is_whole:
            return answer(UNKNOWN)
        found = {self._end_as(key) for key in ("pad_token", "pad_token_id")}
        return answer(UNKNOWN if UNKNOWN in found else YES if YES in found else NO if NO in found else UNKNOWN)

    @property
    def is_learned_from(self) -> Truth:
        """Whether a model is trained with the labels."""
        if self._taken is None:
            return answer(YES if self._facts.trains else UNKNOWN)
        for record in self._facts.records:
            if any(_is_made_by(value, self._taken) for value in record.arguments.values()):
                is_trainer = kind_of(record.name) == "trainer" or isinstance(record.result, Object)
                if self._trains(record) if is_trainer else self._facts.trains:
                    return answer(YES)
        return answer(UNKNOWN)

    @property
    def holds_ends(self) -> Truth:
        """Whether the program is seen to write the end of each text."""
        tree = self._facts.source.tree
        is_seen = self._flows() or any(_writes_end(node) for node in _parts(tree)) or self._is_added()
        return answer(YES if is_seen else UNKNOWN)

    @property
    def is_packed(self) -> bool:
        """Whether texts may be cut into pieces that need no padding."""
        names = [function.name for function in self._facts.machine.functions.values()]
        names += [record.name.rpartition(".")[2] for record in self._facts.records]
        return any(word in name.lower() for name in names for word in _PACKS)

    def _end_as(self, key: str) -> Truth | None:
        """Whether a setting is the token that ends texts; None where the program does not set it."""
        value = self._state.get(key)
        choices = options(value) if value is not None else ()
        kinds = {self._kind(option, key) for option, _ in choices}
        if kinds == {"end", "own"}:
            tests = [test for _, conditions in choices for test, _ in conditions]
            if any("pad_token" not in self._facts.text_of(test) for test in tests):
                return UNKNOWN
            return {True: NO, False: YES, None: UNKNOWN}[self._has_own()]
        if kinds == {"own"} or not kinds:
            return None
        return YES if kinds == {"end"} else NO if kinds == {"other"} else UNKNOWN

    def _kind(self, value: Value, key: str) -> str:
        if isinstance(value, Object) and value.parent is self._tokenizer:
            return "end" if value.name in _ENDS else "own" if value.name == key else "unknown"
        is_other = isinstance(value, Constant) and isinstance(value.value, str) and value.value not in _WRITTEN_ENDS
        return "other" if is_other else "unknown"

    def _has_own(self) -> bool | None:
        """Whether the checkpoint has a pad token of its own."""
        loaded = self._facts.loaded(self._tokenizer)
        known = checkpoints_of(self._facts, loaded.names) if loaded is not None else None
        values = {one.has_pad_token.value if one.has_pad_token is not None else None for one in known or ()}
        return values.pop() if len(values) == 1 else None

    def _trains(self, taker: CallRecord) -> bool:
        """Whether the trainer that is made does more than to evaluate."""
        id = taker.result.id if isinstance(taker.result, Object) else 0
        uses = self._facts.machine.uses.get(id, frozenset[str]())
        return "train" in uses or {"evaluate", "predict", "evaluation_loop"}.isdisjoint(uses)

    def _flows(self) -> bool:
        """Whether the token itself goes into a text that is tokenized."""
        machine = self._facts.machine
        ends = {child.id for (_, name), child in machine.children.items() if name == "eos_token"}
        return any(ends & machine.flow_of(call.record.arguments) for call in self._facts.tokenizations())

    def _is_added(self) -> bool:
        """Whether the tokenizer, or a chat template, writes the ends."""
        asked = (record.arguments.get("add_eos_token") for record in self._facts.records)
        templates = (record.arguments for record in self._facts.records if record.name == "apply_chat_template")
        return any(isinstance(value, Constant) and value.value is True for value in asked) or any(
            "add_generation_prompt" not in given.keywords for given in templates
        )


def masked_ends(facts: Facts) -> Iterator[MaskedEnds]:
    """The collators and the statements that take the padding out of labels by its id, in order."""
    for call in facts.calls(_COLLATOR):
        tokenizer, mlm = call.record.arguments.get("tokenizer", 0), call.argument("mlm", 1)
        is_causal = mlm is not None and mlm.constant is False
        if isinstance(tokenizer, Object) and facts.is_tokenizer(tokenizer) and is_causal:
            yield MaskedEnds(facts, call.record.node, tokenizer, call.record.state, call.record.id)
    # A tree is walked last: most files that speak of pad tokens load no tokenizer that pads with ends.
    speaks = "pad_token_id" in facts.source.text
    used = {
        call.record.receiver: call.record.state
        for call in (facts.tokenizations() if speaks else ())
        if isinstance(call.record.receiver, Object) and call.record.state
    }
    for tokenizer, state in used.items() if len(used) == 1 else ():
        if any(isinstance(one, Object) and one.name in _ENDS for value in state.values() for one, _ in options(value)):
            for node in _masks(facts.source.tree):
                yield MaskedEnds(facts, node, tokenizer, state, None)


def _is_made_by(value: Value, call: int) -> bool:
    return any(isinstance(option, Opaque) and option.call == call for option, _ in options(value))


# ---------------------------------------------------------------- what is written


def _parts(tree: ast.AST) -> Iterator[ast.AST]:
    """All expressions but those of arguments that hold no text."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if not (isinstance(node, ast.keyword) and node.arg in _NO_TEXT):
            yield node
            pending += ast.iter_child_nodes(node)


def _writes_end(node: ast.AST) -> bool:
    """Whether an expression joins an end to a text, or to its ids."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return name in _TAKES_ENDS and any(_is_end(one) for one in node.args)
    if isinstance(node, ast.BinOp):
        sides = [node.left, node.right] if isinstance(node.op, ast.Add) else []
        items = [one for side in sides if isinstance(side, ast.List) for one in side.elts]
        return any(_is_end(one) for one in (*sides, *items))
    if isinstance(node, ast.JoinedStr):
        inner = [one.value if isinstance(one, ast.FormattedValue) else one for one in node.values]
        return any(_is_end(one) for one in inner)
    is_longer = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in _WRITTEN_ENDS
    return is_longer and _is_end(node)


def _is_end(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _ENDS
    text = node.value if isinstance(node, ast.Constant) else None
    return isinstance(text, str) and any(end in text for end in _WRITTEN_ENDS)


def _masks(tree: ast.AST) -> Iterator[ast.AST]:
    """What sets labels to -100 where they are a pad token's id, and looks at nothing else."""
    names = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _is_pad(node.value, set())
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        test: ast.AST | None = None
        if isinstance(node, ast.Assign) and _is_ignored(node.value) and isinstance(node.targets[0], ast.Subscript):
            test = node.targets[0].slice
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in _FILLS:
            given = (*node.args, *(keyword.value for keyword in node.keywords))
            test = node if any(_is_ignored(value) for value in given) else None
        elif isinstance(node, ast.IfExp) and (_is_ignored(node.body) or _is_ignored(node.orelse)):
            test = node.test
        parts = list(ast.walk(test)) if test is not None else []
        is_alone = not any(isinstance(part, (ast.BitAnd, ast.And)) for part in parts)
        if is_alone and any(_compares_pad(part, names) for part in parts):
            yield node


def _compares_pad(node: ast.AST, names: set[str]) -> bool:
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        return any(_is_pad(side, names) for side in (node.left, *node.comparators))
    is_method = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"eq", "ne"}
    return is_method and isinstance(node, ast.Call) and any(_is_pad(one, names) for one in node.args)


def _is_pad(node: ast.AST, names: set[str]) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "pad_token_id") or (
        isinstance(node, ast.Name) and node.id in names
    )


def _is_ignored(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and node.operand.value == 100
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return "ignore" in name.lower()
