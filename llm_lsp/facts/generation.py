"""What `generate` is told: its settings, and whether it draws tokens or takes the likeliest ones."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.access import is_ids
from llm_lsp.facts.checkpoints import checkpoints_of, is_changed_unseen
from llm_lsp.facts.padding import is_decoder_only
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Opaque, Tuple, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import inputs, library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["Generation", "Setting", "generations", "takes_only_inputs"]

_SETTINGS = "transformers.GenerationConfig"
_NEUTRAL: dict[str, tuple[object, ...]] = {
    "temperature": (1.0,),
    "top_p": (1.0,),
    "top_k": (50, 1),
    "min_p": (),
    "typical_p": (1.0,),
    "epsilon_cutoff": (),
    "eta_cutoff": (),
}
"""Settings that only sampling reads, with the numbers that change nothing (`GenerationConfig.validate` of transformers 5.24):
`top_k=1` is what taking the likeliest token does anyway, and so is what is not above 0."""
_OTHER_USES = frozenset({"penalty_alpha", "custom_generate", "logits_processor"})
"""Arguments after which one of them means something without sampling: contrastive search takes `top_k`."""
_OWN_SETTINGS = ("do_sample", "generation_config")


class Setting:
    """One setting of a generation, as far as the program says it."""

    __slots__ = ("_facts", "_owner", "name", "value")

    def __init__(self, facts: Facts, owner: Call, name: str, value: Value) -> None:
        self._facts = facts
        self._owner = owner
        """The call that it is passed to: `generate` itself, or the one that makes a `GenerationConfig`."""
        self.name = name
        self.value = value

    @property
    def constants(self) -> list[object]:
        """The values that it may have, defaults among them; empty if it may have others."""
        return [choice.value for choice in self._facts.choices(self.value)]

    @property
    def is_passed_directly(self) -> bool:
        """Whether it is written in the call, not in a dictionary that the call takes apart."""
        return self._owner.places_of_argument(self.name, None)[0] is not None

    @property
    def place(self) -> Place:
        """Where it is set, in the call or in a dictionary; the call itself where that isn't seen."""
        node = self.value.node if isinstance(self.value, Constant) else None
        written = self._facts.place(node) if node is not None else None
        own = self._owner.places_of_argument(self.name, None)[0]
        return own or (written if written is not None and written.path == self._owner.place.path else self._owner.place)

    @property
    def owner(self) -> Place:
        """The call that it is an argument of."""
        return self._owner.place

    @property
    def text(self) -> str:
        """`temperature=0.7`, as far as the value is known."""
        values = self.constants
        return f"{self.name}={values[0]!r}" if len(values) == 1 else self.name


class Generation:
    """A call of `generate`, or of a pipeline, with what it is told."""

    __slots__ = ("_facts", "_settings", "call")

    def __init__(self, facts: Facts, record: CallRecord) -> None:
        self._facts = facts
        self.call = Call(facts, record)
        self._settings = self._own_settings()

    def setting(self, name: str) -> Setting | None:
        """What the call, or the `GenerationConfig` that it is given, says of a setting."""
        value = self.call.record.arguments.keywords.get(name)
        if value is not None:
            return Setting(self._facts, self.call, name, value)
        made = self._settings
        value = made.arguments.keywords.get(name) if made is not None else None
        return Setting(self._facts, Call(self._facts, made), name, value) if made is not None and value else None

    @property
    def for_sampling(self) -> list[Setting]:
        """The settings that mean something only where tokens are drawn, and that are set to something that matters."""
        if any(self.setting(name) is not None for name in _OTHER_USES):
            return []
        asked = [self.setting(name) for name in _NEUTRAL]
        return [setting for setting in asked if setting is not None and _matters(setting)]

    @property
    def is_sampled(self) -> Truth:
        """Whether tokens are drawn; NO where the likeliest ones are taken, or beams searched."""
        asked = self.setting("do_sample")
        if asked is not None:
            known = {choice.value for choice in self._facts.choices(asked.value) if not choice.is_default}
            return answer(YES if known == {True} else NO if known == {False} else UNKNOWN)
        is_told_elsewhere = not takes_only_inputs(self._facts, self.call.record) or self._has_unknown_settings()
        return answer(UNKNOWN if is_told_elsewhere else self._of_checkpoint())

    @property
    def counts_prompt(self) -> Truth:
        """Whether `max_length` counts the tokens of the prompt as well; NO where nothing but the answer has a length."""
        record = self.call.record
        if self._is_of_text_pipeline():
            return answer(YES)
        if not is_of_transformers(self._facts, record) or "inputs_embeds" in record.arguments.keywords:
            return answer(UNKNOWN)
        if is_decoder_only(self._facts, record):
            return answer(YES)
        # Who leaves out what stands before the answer knows that the output begins with the prompt.
        return answer(YES if self._is_unknown_model() and record.id in self._facts.machine.trimmed else UNKNOWN)

    @property
    def leaves_room(self) -> Truth:
        """Whether `max_length` leaves room for an answer behind any prompt; NO where a long prompt may take all of it."""
        limit = self.setting("max_length")
        lengths = [value for value in limit.constants if isinstance(value, int)] if limit is not None else []
        arguments = self.call.record.arguments
        given = arguments.positional or arguments.spread or arguments.get("input_ids") or arguments.get("inputs")
        if (
            not lengths
            or not given
            or not takes_only_inputs(self._facts, self.call.record)
            or self._fills_context(lengths)
        ):
            return answer(UNKNOWN)
        prompts = [
            made
            for id in self.call.record.flow
            if (made := self._facts.machine.calls.get(id)) and _tokenizes(self._facts, id)
        ]
        is_short = bool(prompts) and all(_is_shorter(self._facts, made, min(lengths)) for made in prompts)
        return answer(YES if is_short or self._is_given_a_short_text(min(lengths)) else NO)

    def _is_given_a_short_text(self, tokens: int) -> bool:
        is_pipeline = self.call.is_of_a_pipeline
        return is_pipeline and _is_short_text(self.call.record.arguments.get("text_inputs", 0), tokens)

    def _fills_context(self, lengths: list[int]) -> bool:
        """Whether it is the length of the model's context: as much as there is."""
        model = self.call.record.receiver
        loaded = self._facts.loaded(model) if isinstance(model, Object) else None
        known = checkpoints_of(self._facts, loaded.names) if loaded is not None else None
        return any(one.max_positions is not None and one.max_positions.value <= max(lengths) for one in known or ())

    def _is_of_text_pipeline(self) -> bool:
        pipeline = self.call.record.receiver
        made = self._facts.machine.calls.get(pipeline.call) if isinstance(pipeline, Object) and pipeline.call else None
        task = made.arguments.get("task", 0) if made is not None and self.call.is_of_a_pipeline else None
        return isinstance(task, Constant) and task.value == "text-generation"

    def _is_unknown_model(self) -> bool:
        model = self.call.record.receiver
        return isinstance(model, Object) and model.is_outside and self._facts.machine.kind(model) is None

    def _own_settings(self) -> CallRecord | None:
        """The call that makes the `GenerationConfig` of this generation, if nobody changes that afterwards."""
        config = self.call.record.arguments.keywords.get("generation_config")
        if not isinstance(config, Object) or config.cls != _SETTINGS or config.call is None:
            return None
        made = self._facts.machine.calls.get(config.call)
        is_plain = made is not None and made.name == _SETTINGS and made.arguments.is_complete
        is_plain = (
            is_plain and not self._facts.machine.uses.get(config.id) and config.id not in self._facts.machine.escaped
        )
        return made if is_plain else None

    def _has_unknown_settings(self) -> bool:
        return "generation_config" in self.call.record.arguments.keywords and self._settings is None

    def _of_checkpoint(self) -> Truth:
        """What the model's own settings say where the call says nothing."""
        model = self.call.record.receiver
        loaded = self._facts.loaded(model) if isinstance(model, Object) else None
        if loaded is None or not isinstance(model, Object) or self._facts.machine.kind(model) != "model":
            return UNKNOWN
        load = loaded.load.record.arguments
        is_changed = is_changed_unseen(self._facts, model, _OWN_SETTINGS) or self._is_configured(model)
        if is_changed or not load.is_complete or any(name in load.keywords for name in (*_OWN_SETTINGS, "config")):
            return UNKNOWN
        known = [inputs.samples(one) for one in checkpoints_of(self._facts, loaded.names) or ()]
        values = {one.value if one is not None else None for one in known}
        return {True: YES, False: NO, None: UNKNOWN}[values.pop()] if len(values) == 1 else UNKNOWN

    def _is_configured(self, model: Object) -> bool:
        """Whether a method of the model's settings, or something that gets them, may change them."""
        machine = self._facts.machine
        held = (machine.children.get((model.id, name)) for name in ("config", "generation_config"))
        return any(
            one is not None and (one.id in machine.escaped or "update" in machine.uses.get(one.id, ())) for one in held
        )


def generations(facts: Facts) -> Iterator[Generation]:
    """The calls of `generate` of transformers' models, and of pipelines, in order."""
    for record in facts.index.named(("generate", "()")):
        receiver = record.receiver
        if not isinstance(receiver, Object):
            continue
        kind = facts.machine.kind(receiver)
        is_one = kind == "pipeline" if record.name == "()" else kind == "model" or is_of_transformers(facts, record)
        if is_one:
            yield Generation(facts, record)


def is_of_transformers(facts: Facts, record: CallRecord) -> bool:
    """Whether a `generate` is transformers' own, by the class of its receiver or by two arguments that it alone has."""
    receiver = record.receiver
    if not isinstance(receiver, Object) or facts.machine.kind(receiver) is not None:
        return (
            isinstance(receiver, Object) and isinstance(receiver.cls, str) and facts.machine.kind(receiver) == "model"
        )
    return receiver.is_outside and len(library.GENERATION_ARGUMENTS & record.arguments.keywords.keys()) > 1


def takes_only_inputs(facts: Facts, record: CallRecord) -> bool:
    """Whether what a call takes apart by `**` is what a tokenizer returned, moved or not, and so holds no settings."""
    arguments = record.arguments
    return arguments.is_complete or all(_is_input(facts, record, value) for value in arguments.spread)


def _is_input(facts: Facts, record: CallRecord, value: Value) -> bool:
    if is_ids(value) or (isinstance(value, Opaque) and value.cls == library.FEATURES):
        return True
    # `{name: tensor.to(device) for name, tensor in encoded.items()}`
    is_mapped = isinstance(value, Object) and isinstance(value.node, ast.DictComp)
    return is_mapped and any(_tokenizes(facts, id) for id in record.flow)


def _tokenizes(facts: Facts, id: int) -> bool:
    made = facts.machine.calls.get(id)
    receiver = made.receiver if made is not None else None
    return isinstance(receiver, Object) and facts.machine.kind(receiver) in {"tokenizer", "processor"}


def _is_shorter(facts: Facts, made: CallRecord, tokens: int) -> bool:
    """Whether a tokenization gives fewer tokens than that: it cuts them, or its text is written and short."""
    limit, cut = made.arguments.get("max_length"), made.arguments.get("truncation")
    if isinstance(limit, Constant) and isinstance(cut, Constant) and cut.value not in (False, None, "do_not_truncate"):
        return isinstance(limit.value, int) and limit.value < tokens
    text = made.arguments.get("text", 0)
    if isinstance(text, Object) and made.id in facts.machine.written:
        held = [option for option, _ in options(facts.machine.heap.get((text.id, "each"), Opaque()))]
        return all(not isinstance(one, Constant) or _is_short_text(one, tokens) for one in held)
    return _is_short_text(text, tokens)


def _is_short_text(text: Value | None, tokens: int) -> bool:
    """Whether the text is written, with no more than twice as many letters: then half of the tokens are left, or more."""
    items = text.items if isinstance(text, Tuple) else (text,)
    return all(
        isinstance(item, Constant) and not item.may and isinstance(item.value, str) and len(item.value) <= 2 * tokens
        for item in items
    )


def _matters(setting: Setting) -> bool:
    """Whether each value that a setting may have would change what is drawn; a parameter without a default is meant to."""
    values = setting.constants
    if not values:
        return any(
            isinstance(one, Object) and one.is_outside and one.parent is None and one.name == setting.name
            for one, _ in options(setting.value)
        )
    return all(
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and value > 0
        and value not in _NEUTRAL[setting.name]
        for value in values
    )
