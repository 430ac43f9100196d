"""The numbers of tokens that a program lets through, and whether they fit the contexts of its models."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import TYPE_CHECKING

from llm_lsp.facts.checkpoints import checkpoints_of, is_changed_unseen, may_be_configured
from llm_lsp.facts.choices import Choice
from llm_lsp.facts.loads import Loaded
from llm_lsp.facts.padding import is_decoder_only
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Object, Value, options
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import inputs, library
from llm_lsp.knowledge.kinds import kind_of
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place
    from llm_lsp.knowledge.checkpoint import Checkpoint, Known

__all__ = ["Length", "lengths"]

_POSITIONS = ("position", "rope", "rotary", "wpe", "embed")
_OWN_SCALING = ("rope_scaling", "rope_parameters", "ignore_mismatched_sizes")


class _Asked(NamedTuple):
    """A length that a program asks for."""

    what: str
    record: CallRecord
    name: str
    value: Value


class _Pair(NamedTuple):
    """A number of tokens, that of the prompt before them, and what the model's context holds."""

    asked: int
    prompt: int
    context: Known[int] | None

    def is_beyond(self, what: str) -> bool | None:
        if self.context is None:
            return None
        most = self.context.value
        match what:
            case "prompt and answer":
                # Where one of them is too long by itself, that is what is reported.
                return self.asked + self.prompt > most + 1 and self.asked < most >= self.prompt
            case "prompt with answer":
                # The last token that is generated is not looked up any more.
                return self.asked > most + 1
            case "answer to prompt":
                # A prompt, which has at least two tokens, comes before what is generated.
                return self.asked >= most
            case _:
                # What a decoder generates by itself follows one token that begins it.
                return self.asked > most


class Length:
    """A length that a program asks for, and a model that gets texts so long."""

    __slots__ = ("_facts", "_prompt", "_record", "_value", "argument", "call", "model", "what")

    def __init__(self, facts: Facts, asked: _Asked, model: Loaded, prompt: _Asked | None = None) -> None:
        self._facts = facts
        self._value = asked.value
        self._prompt = prompt
        self._record = asked.record
        self.what = asked.what
        """How: "pads", "cuts", "prompt with answer", "prompt and answer", "answer to prompt", "answer", "sentences",
        "slice", "pipeline" or "positions"."""
        self.call = Call(facts, asked.record)
        self.argument = self.call.argument(asked.name)
        self.model = model

    @property
    def place(self) -> Place:
        """The argument that asks for it, or the call."""
        place = self.argument.place if self.argument is not None else None
        if place is not None:
            return place
        node = self._value.node if isinstance(self._value, Constant) else None
        return self._facts.place(node) if self.what == "sentences" and node is not None else self.call.place

    @property
    def related(self) -> list[tuple[Place, str]]:
        """Where the number is set, if that is elsewhere, and where the prompt is cut."""
        found: list[tuple[Place, str]] = []
        node = self._value.node if isinstance(self._value, Constant) else None
        if node is not None and self.literal is None and self._facts.place(node) != self.place:
            found.append((self._facts.place(node), "the number is set here"))
        if self._prompt is not None:
            found.append((self._facts.place(self._prompt.record.node), "the prompt is cut here"))
        return found

    @property
    def number(self) -> int:
        """The number of tokens, or the first that it may be."""
        return next((pair.asked + pair.prompt for pair in self._pairs()), 0)

    @property
    def context(self) -> int | None:
        """The context of the model, where a file confirms it."""
        known = next((pair.context for pair in self._pairs()), None)
        return known.value if known is not None and known.confirmed else None

    @property
    def fitting(self) -> int | None:
        """The number that fits instead, where that is plain: for a prompt, with room for the answer."""
        pair = next(self._pairs(), None)
        if self.context is None or pair is None or self.what in {"answer to prompt", "answer", "positions"}:
            return None
        return self.context - (pair.asked if self._prompt is not None else 0)

    @property
    def literal(self) -> Place | None:
        """The number where the call itself writes it; of "prompt and answer", the prompt's."""
        if self._prompt is not None:
            argument = Call(self._facts, self._prompt.record).argument(self._prompt.name)
        else:
            argument = self.argument
        place = argument.value_place if argument is not None else None
        if self.what == "slice" and isinstance(self._value, Constant) and self._value.node is not None:
            place = self._facts.place(self._value.node)
            place = place if place.range.start.row == self.place.range.start.row else None
        is_here = place is not None and place.path == self._facts.source.path
        return place if is_here and place is not None and place.text.replace("_", "").isdigit() else None

    @property
    def raises(self) -> bool:
        """Whether what is too long raises an error, rather than that the model goes astray."""
        return all(inputs.raises_beyond(one) for one in checkpoints_of(self._facts, self.model.names) or [])

    @property
    def is_beyond_context(self) -> Truth:
        """Whether the model can't take so many tokens, whatever the names and numbers turn out to be."""
        beyond = {pair.is_beyond(self.what) for pair in self._pairs()}
        if beyond != {True}:
            return answer(NO if beyond == {False} else UNKNOWN)
        return answer(UNKNOWN if self._has_own_context() or self._is_looked_at() else YES)

    def _has_own_context(self) -> bool:
        """Whether the program may have given the model another context than its checkpoint's."""
        model, load = self.model.object, self.model.load.record.arguments
        own = _OWN_SCALING if self.what == "positions" else (*_OWN_SCALING, *library.POSITIONS)
        if not load.is_complete or not self._facts.is_whole or any(name in load.keywords for name in own):
            return True
        if self.what != "positions" and may_be_configured(self._facts, self.model.load.record, _POSITIONS):
            return True
        return model is not None and is_changed_unseen(self._facts, model, _POSITIONS)

    def _is_looked_at(self) -> bool:
        """Whether the program takes the ids apart, or compares their number, before the model gets them."""
        if self.what not in {"pads", "cuts", "slice", "prompt and answer"}:
            return False
        machine = self._facts.machine
        id = (self._prompt.record if self._prompt is not None else self._record).id
        if id in machine.sliced or id in machine.cut or id in machine.handed_out:
            return True
        if self.what != "pads" and id in machine.length_examined:
            return True
        return any(_takes_apart(record, id) for record in self._facts.records)

    def _pairs(self) -> Iterator[_Pair]:
        """Each number of tokens that can be asked for, with the context of the model that is then there."""
        prompts = [0] if self._prompt is None else [_number(one) for one in self._facts.choices(self._prompt.value)]
        for choice in self._facts.choices(self._value):
            for name in self.model.names:
                if not choice.agrees_with(name):
                    continue
                known = checkpoints_of(self._facts, [name])
                context = self._positions(known[0]) if known else None
                asked = _number(choice)
                for prompt in prompts:
                    is_known = asked is not None and prompt is not None
                    yield _Pair(asked or 0, prompt or 0, context if is_known else None)

    def _positions(self, checkpoint: Checkpoint) -> Known[int] | None:
        raises = inputs.raises_beyond(checkpoint)
        is_limited = raises or (inputs.degrades_beyond(checkpoint) and self.what != "positions")
        return checkpoint.max_positions if is_limited else None


def _takes_apart(record: CallRecord, id: int) -> bool:
    """Whether a call makes pieces of the ids of a tokenization: `view(-1, 512)`, `torch.split(...)`, `batched(...)`."""
    if record.name.rpartition(".")[2] not in library.MAKES_PIECES and not library.splits_text(record.name):
        return False
    given = record.arguments.values() if record.receiver is None else [record.receiver, *record.arguments.values()]
    return any(id in value.sources for value in given)


def _number(choice: Choice) -> int | None:
    return choice.value if isinstance(choice.value, int) and not isinstance(choice.value, bool) else None


def lengths(facts: Facts) -> Iterator[Length]:
    """The lengths that the program asks for, each with a model, loaded by a known name, that it is asked for."""
    found = [*_of_runs(facts), *_of_loads(facts)]
    return (length for _, length in sorted(found, key=itemgetter(0)))


def _of_runs(facts: Facts) -> Iterator[tuple[int, Length]]:
    """What calls that run or train models ask for, with the ids of these calls."""
    for record in facts.index.named_so(_may_run):
        for loaded in _models_run(facts, record):
            for asked, prompt in _asked_at(facts, record):
                yield record.id, Length(facts, asked, loaded, prompt)


def _of_loads(facts: Facts) -> Iterator[tuple[int, Length]]:
    """What calls that load models ask for, with the ids of these calls."""
    for record in facts.index.with_objects:
        made = record.result
        kind = facts.machine.kind(made) if isinstance(made, Object) and made.call == record.id else None
        own = facts.loaded(made) if isinstance(made, Object) and kind in {"model", "embedder"} else None
        if not isinstance(made, Object) or own is None:
            continue
        config = record.arguments.get("config")
        configured = facts.machine.calls.get(config.call or 0) if isinstance(config, Object) else None
        for name in library.POSITIONS:
            value = record.arguments.get(name) or record.state.get(name)
            if value is None and configured is not None:
                value = configured.arguments.get(name)
            if value is not None:
                yield record.id, Length(facts, _Asked("positions", record, name, value), own)
        value = facts.machine.heap.get((made.id, "max_seq_length")) if kind == "embedder" else None
        if value is not None:
            yield record.id, Length(facts, _Asked("sentences", record, "", value), own)


def _may_run(name: str) -> bool:
    return name in {"()", "generate"} or kind_of(name) == "trainer"


def _models_run(facts: Facts, record: CallRecord) -> Iterator[Loaded]:
    """The models that a call runs or trains, where their names are known."""
    receiver = record.receiver
    if record.name in {"()", "generate"} and isinstance(receiver, Object):
        kind = facts.machine.kind(receiver)
        given: Value | None = receiver if kind in {"model", "pipeline"} else None
    else:
        given = record.arguments.get("model", 0) if kind_of(record.name) == "trainer" else None
    if isinstance(given, Constant):
        named = facts.loaded_by(None, Call(facts, record), "model", 0)
        if named is not None:
            yield named
    for option, _ in options(given) if given is not None else ():
        for part in facts.pretrained_parts(option):
            loaded = facts.loaded(part) if isinstance(part, Object) else None
            if loaded is not None:
                yield loaded


def _asked_at(facts: Facts, record: CallRecord) -> Iterator[tuple[_Asked, _Asked | None]]:
    """The lengths that a call of a model or pipeline, or a trainer, asks for, or that its texts come with."""
    arguments = record.arguments
    receiver = record.receiver
    if isinstance(receiver, Object) and facts.machine.kind(receiver) == "pipeline":
        for name, what in (("max_length", "pipeline"), ("max_new_tokens", "answer")):
            value = arguments.get(name)
            if value is not None:
                yield _Asked(what, record, name, value), None
        return
    prompts = [asked for id in sorted(record.flow) if (asked := _asked_of_texts(facts, id)) is not None]
    for asked in prompts:
        yield asked, None
    if record.name == "generate":
        new = arguments.get("max_new_tokens")
        whole = arguments.get("max_length") if new is None else None
        if whole is not None:
            yield _Asked("prompt with answer", record, "max_length", whole), None
        if new is not None:
            continues = is_decoder_only(facts, record)
            asked = _Asked("answer to prompt" if continues else "answer", record, "max_new_tokens", new)
            yield asked, None
            for prompt in prompts if continues else ():
                yield asked._replace(what="prompt and answer"), prompt
    elif kind_of(record.name) == "trainer":
        for asked in _asked_of_trl(facts, record):
            yield asked, None


def _asked_of_trl(facts: Facts, record: CallRecord) -> Iterator[_Asked]:
    """The length that a trainer of TRL cuts to, by an argument of its own or of its configuration."""
    config = record.arguments.get("args")
    made = facts.machine.calls.get(config.call or 0) if isinstance(config, Object) else None
    for given in (record, made):
        if given is not None and given.name.startswith("trl."):
            for name in ("max_length", "max_seq_length"):
                value = given.arguments.get(name)
                if value is not None:
                    yield _Asked("cuts", given, name, value)


def _asked_of_texts(facts: Facts, id: int) -> _Asked | None:
    """The length that a tokenization pads or cuts to, as far as the program says it."""
    record = facts.machine.calls.get(id)
    if record is not None and record.name == "[:]":
        return _Asked("slice", record, "stop", record.arguments.keywords["stop"])
    tokenizer = record.receiver if record is not None else None
    if record is None or not isinstance(tokenizer, Object) or not facts.is_tokenizer(tokenizer):
        return None
    padding = record.arguments.get("padding")
    old = record.arguments.get("pad_to_max_length")
    pads = (isinstance(padding, Constant) and padding.value == "max_length") or (
        isinstance(old, Constant) and bool(old.value)
    )
    if not pads and Call(facts, record).cuts_text is None:
        return None
    limit = record.arguments.get("max_length")
    own = record.state.get("model_max_length")
    if limit is not None:
        return _Asked("pads" if pads else "cuts", record, "max_length", limit)
    return _Asked("pads" if pads else "cuts", record, "max_length", own) if own is not None else None
