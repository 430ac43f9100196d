"""What is known, in words: for `llm-lint facts` and for the marks of `tests/facts/`. No rule reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.events import Frame
from llm_lsp.facts.truth import Truth
from llm_lsp.facts.values import (
    Bound,
    Class,
    Constant,
    Function,
    Module,
    Object,
    Opaque,
    Partial,
    Symbol,
    Tuple,
    Value,
    options,
)

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.place import Place
    from llm_lsp.facts.views import Call

__all__ = ["Description", "answers", "described", "value_in_words"]

Description = tuple[str, str]
"""What is told of, and what is known of it."""

_UNKNOWN = "unknown"
_OF_EVERY_CALL = frozenset({"gradients", "autocast", "reaches gradient", "is only returned"})
_LONGEST = 8
_DEEPEST = 3


def described(facts: Facts, call: Call) -> Iterator[Description]:
    """What is known of one call on one chain."""
    called = "an object" if call.name == "()" else call.name
    yield "called", f"{called}, in {' < '.join(call.function_names) or 'the module'}"
    record = call.record
    if record.receiver is not None:
        yield "of", value_in_words(facts, record.receiver)
    passed = [value_in_words(facts, value) for value in record.arguments.positional]
    passed += [f"{name}={value_in_words(facts, value)}" for name, value in record.arguments.keywords.items()]
    yield "passed", ", ".join([*passed, *([] if record.arguments.is_complete else ["perhaps more"])])
    yield "loops", str(len(record.loops))
    for test, came_out in record.guards:
        yield "only if", facts.text_of(test) if came_out else f"not {facts.text_of(test)}"
    if call.model is not None:
        yield "loaded as", " or ".join(f"`{name.value}`" for name in call.model.names)
    of_object = isinstance(record.receiver, Object)
    for state in ("dtype", "device") if of_object else ():
        yield state, " or ".join(str(choice.value) for choice in call.states(state)) or _UNKNOWN
    yield from (known for known in _truths(call) if of_object or known[0] in _OF_EVERY_CALL)


def answers(facts: Facts) -> Iterator[tuple[Place, Description]]:
    """What the words in which rules ask say of the whole file, with the place that each speaks of."""
    found: list[tuple[Place | None, object]] = [(one.first_draw, one) for one in facts.generators()]
    found += [(one.switch.place, one) for one in facts.kept_modes()]
    found += [(one.place, one) for one in facts.repeated_loaders()]
    found += [(one.place, one) for one in facts.kept_logits()]
    found += [(one.call.place, one) for one in facts.recomputed_parts()]
    found += [(one.place, one) for one in facts.running_sums()]
    found += [(one.place, one) for one in facts.clippings()]
    found += [(one.call.place, one) for one in facts.array_conversions()]
    found += [(one.call.place, one) for one in facts.collected_tensors()]
    found += [(one.call.place, one) for one in facts.debugger_stops()]
    found += [(one.call.place, one) for one in facts.gone_arguments()]
    found += [(one.place, one) for one in facts.tensor_keys()]
    found += [(one.place, one) for one in facts.written_secrets()]
    found += [(one.step.place, one) for one in facts.updates()]
    found += [(one.optimizer.place, one) for one in facts.late_changes()]
    found += [(one.call.place, one) for one in facts.saves()]
    found += [(one.loader.place, one) for one in facts.worked_datasets()]
    found += [(one.backward.place, one) for one in facts.micro_batches()]
    found += [(one.call.place, one) for one in facts.accelerator_bypasses()]
    found += [(one.place, one) for one in facts.hidden_layers()]
    found += [(one.call.place, one) for one in facts.hidden_tensors()]
    found += [(one.call.place, one) for one in facts.dropouts()]
    found += [(one.call.place, one) for one in facts.checkpoint_reads()]
    found += [(one.place, one) for one in facts.overrides("compute_loss")]
    found += [(one.call.place, one) for one in facts.schedule_steps()]
    found += [(one.call.place, one) for one in (*facts.score_losses(), *facts.divergences())]
    found += [(one.call.place, one) for one in facts.half_trainings()]
    found += [(one.call.place, one) for one in facts.inferences()]
    found += [(one.place, one) for one in facts.added_tokens()]
    found += [(one.place, one) for one in facts.attention_requests()]
    found += [(one.call.place, one) for one in facts.generations()]
    found += [(one.call.place, one) for one in facts.written_texts()]
    found += [(one.call.place, one) for one in facts.chat_prompts()]
    found += [(one.place, one) for one in facts.labelled_runs()]
    found += [(one.call.place, one) for one in facts.paddings()]
    found += [(one.call.place, one) for one in facts.unmasked_runs()]
    found += [(one.place, one) for one in facts.masked_ends()]
    found += [(one.call.place, one) for one in facts.token_means()]
    found += [(one.call.place, one) for one in facts.tokenized_inputs()]
    found += [(one.call.place, one) for one in facts.rendered_chats()]
    found += [(one.call.place, one) for one in facts.decoded_ids()]
    found += [(one.place, one) for one in facts.lengths()]
    found += [(one.place, one) for one in facts.model_loads()]
    found += [(one.place, one) for one in facts.padded_labels()]
    found += [(one.place, one) for one in facts.blocking_inferences()]
    found += [(one.place, one) for one in facts.meetings()]
    found += [(one.place, one) for call in facts.calls("generate") for one in facts.padded_prompts(call)]
    for place, answer in found:
        if place is not None:
            yield from ((place, description) for description in _truths(answer))


def _truths(told: object) -> Iterator[Description]:
    """Every question of an answer that is answered with yes, no or unknown."""
    for name, member in vars(type(told)).items():
        if isinstance(member, property) and not name.startswith("_"):
            known = getattr(told, name)
            if isinstance(known, Truth):
                yield name.replace("_", " "), known.value


# ---------------------------------------------------------------- values


def value_in_words(facts: Facts, value: Value, depth: int = 0) -> str:
    """What is known of a value: a constant as it is written, an object by where it is made."""
    return " or ".join(dict.fromkeys(_one(facts, option, depth) for option, _ in options(value)))


def _one(facts: Facts, value: Value, depth: int) -> str:
    if isinstance(value, Constant):
        return f"{value.value!r} by default" if value.may else repr(value.value)
    if isinstance(value, (Symbol, Module)):
        return value.name
    if isinstance(value, Function):
        return f"function {value.name}"
    if isinstance(value, Class):
        return f"class {value.node.name}"
    if isinstance(value, Bound):
        return f"method {value.function.name} of {value_in_words(facts, value.receiver, depth + 1)}"
    if isinstance(value, Partial):
        return f"{value_in_words(facts, value.callee, depth + 1)} with some of its arguments"
    if isinstance(value, Tuple):
        return f"({_items(facts, value.items, depth)})"
    if isinstance(value, Object):
        return _object(facts, value, depth)
    return f"some {value.cls}" if isinstance(value, Opaque) and value.cls is not None else _UNKNOWN


def _items(facts: Facts, items: Iterable[Value], depth: int) -> str:
    shown = [value_in_words(facts, item, depth + 1) for item in items]
    return ", ".join(shown if len(shown) <= _LONGEST else [*shown[:_LONGEST], "..."])


def _object(facts: Facts, value: Object, depth: int) -> str:
    machine = facts.machine
    if depth < _DEEPEST and value.cls == "builtins.dict":
        known = machine.known_items(value)
        if known is not None:
            items = (f"{key!r}: {value_in_words(facts, item, depth + 1)}" for key, item in known.items())
            return f"{{{', '.join(items)}}}"
    held = machine.heap.get((value.id, "items"))
    if depth < _DEEPEST and value.cls == "builtins.list" and isinstance(held, Tuple):
        return f"[{_items(facts, held.items, depth)}]"
    cls = value.cls.node.name if isinstance(value.cls, Class) else value.cls
    if value.is_outside:
        return f"`{_path(value)}` from outside" + (f", a {cls}" if cls is not None else "")
    made = machine.calls.get(value.call) if value.call is not None else None
    rows = [getattr(value.node, "lineno", 0), *(_rows(made.frame) if made is not None else ())]
    return f"{cls} of line {' < '.join(str(row) for row in rows)}"


def _path(value: Object) -> str:
    if value.parent is None or value.name == "":
        cls = value.cls
        return value.name if value.is_outside else cls.node.name if isinstance(cls, Class) else str(cls)
    return f"{_path(value.parent)}{'' if value.name.startswith('[') else '.'}{value.name}"


def _rows(frame: Frame) -> Iterator[int]:
    """The rows of the calls that lead to a frame, innermost first."""
    for each in frame.chain():
        if each.call is not None:
            yield getattr(each.call, "lineno", 0)
