"""Dropout by a function, which does not know whether its module is in training."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object
from llm_lsp.facts.views import Call
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.choices import Argument
    from llm_lsp.facts.events import Frame

__all__ = ["Dropout", "dropouts"]

_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
_ON_PURPOSE = re.compile(
    r"\b_*mc_|(^|_)mc(_|$)|^MC|monte|stochastic|augment|(?<!de)nois|corrupt|perturb|uncertain|bayes|always|sample|ensemble|simcse",
    re.IGNORECASE,
)
"""Names of functions and classes that want noise at prediction time."""
_OWN = re.compile(r"(\w+)\.[\w.]+")


class Dropout:
    """A call of `dropout`, or of attention that drops some of its weights, in a method of a module or on the way from one."""

    __slots__ = ("_facts", "call", "module")

    def __init__(self, facts: Facts, call: Call, module: str | None) -> None:
        self._facts = facts
        self.call = call
        self.module = module
        """How the method that the call stands in names its module; None where it stands in a function."""

    @property
    def is_of_attention(self) -> bool:
        return self.call.name == _ATTENTION

    @property
    def probability(self) -> Argument | None:
        """How much is dropped."""
        return self.call.argument("dropout_p", 4) if self.is_of_attention else self.call.argument("p", 1)

    @property
    def is_always_on(self) -> Truth:
        """Whether it drops in evaluation too: nothing says that it is training, and nothing asks."""
        call, probability = self.call, self.probability
        place = probability.value_place if probability is not None else None
        text = place.text if place is not None else ""
        names = (*call.function_names, *_classes_around(call.record.frame))
        is_known = self._is_known_to_drop(probability, text) if self.is_of_attention else call.passes("training") is NO
        is_nothing = probability is not None and isinstance(probability.value, Constant) and not probability.value.value
        is_wanted = any(_ON_PURPOSE.search(name) for name in names)
        is_asked = "train" in text or call.is_guarded_by("training", "eval")
        return answer(YES if is_known and not (is_nothing or is_wanted or is_asked) else UNKNOWN)

    def _is_known_to_drop(self, probability: Argument | None, text: str) -> bool:
        """Whether the attention is given a number, or an attribute that is the same in both modes."""
        if probability is None or not text:
            return False
        if text[0].isdigit():
            return isinstance(probability.value, Constant)
        found = _OWN.fullmatch(text)
        cls = self._class_of(found[1]) if found is not None else None
        return cls is not None and cls.find(text.split(".")[1]) is None

    def _class_of(self, name: str) -> Class | None:
        """The class of the module that a variable holds: the method's own, or one that a function is given."""
        frame = self.call.record.frame
        if name == self.module and frame.function is not None:
            return frame.function.owner
        held = frame.locals.get(name)
        cls = held.cls if isinstance(held, Object) else None
        return cls if isinstance(cls, Class) and self._facts.machine.kind_of_class(cls) == "model" else None


def dropouts(facts: Facts) -> Iterator[Dropout]:
    """The calls of dropout that a module of the program leads to."""
    for call in facts.calls(*library.FUNCTIONAL_DROPOUTS, _ATTENTION):
        modules = [_module_of(facts, frame) for frame in call.record.frame.chain()]
        if any(module is not None for module in modules):
            yield Dropout(facts, call, modules[0])


def _module_of(facts: Facts, frame: Frame) -> str | None:
    """The first parameter of a method of a module."""
    function = frame.function
    if function is None or function.owner is None or not function.node.args.args:
        return None
    is_module = facts.machine.kind_of_class(function.owner) == "model"
    is_forward = function.name == "forward" and function.owner.has_unknown_base()
    return function.node.args.args[0].arg if (is_module or is_forward) and not function.decorators else None


def _classes_around(frame: Frame) -> list[str]:
    functions = [one.function for one in frame.chain() if one.function is not None]
    return [function.owner.node.name for function in functions if function.owner is not None]
