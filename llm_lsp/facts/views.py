"""What a rule sees of calls and objects: questions with names, answered with YES, NO or UNKNOWN where that is the answer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Position, Range
from llm_lsp.facts.choices import Argument, Choice
from llm_lsp.facts.events import CallRecord
from llm_lsp.facts.graphs import has_autograd, is_the_other_choice, keeps_adapters, makes_a_loss
from llm_lsp.facts.guards import mention
from llm_lsp.facts.parameters import are_optimized, may_be_frozen
from llm_lsp.facts.place import Place
from llm_lsp.facts.positions import position_of
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import OVERFLOW, Class, Condition, Constant, Function, Object, Opaque, Value, options
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.loads import Loaded

__all__ = ["Call"]


class Call:
    """One call on one chain of callers."""

    __slots__ = ("_facts", "record")

    def __init__(self, facts: Facts, record: CallRecord) -> None:
        self._facts = facts
        self.record = record

    # ------------------------------------------------------------ where

    @property
    def name(self) -> str:
        """A qualified name; a bare name for a method; "()" for a call of an object itself."""
        return self.record.name

    @property
    def place(self) -> Place:
        return self._facts.place(self.record.node)

    @property
    def callee(self) -> str:
        """What is called, as it is written, on one line."""
        node = self.record.node
        return " ".join(self._facts.text_of(node.func if isinstance(node, ast.Call) else node).split())

    @property
    def method_range(self) -> Range | None:
        """Where the last name of what is called stands, `step` in `self.optimizer.step()`; None where it has no other."""
        node = self.record.node
        function = node.func if isinstance(node, ast.Call) else None
        if not isinstance(function, ast.Attribute):
            return None
        end = self._facts.place(function).range.end
        return Range(Position(end.row, end.column - len(function.attr)), end)

    @property
    def function_names(self) -> list[str]:
        """The functions that this call is in, innermost first."""
        return [frame.function.name for frame in self.record.frame.chain() if frame.function is not None]

    @property
    def is_in_a_forward(self) -> bool:
        """Whether a module's own method, what makes one, or what a library calls with a graph in hand, leads here."""
        receiver = self.record.receiver
        for frame in self.record.frame.chain():
            function = frame.function
            if function is None or function.owner is None:
                continue
            if function.name.startswith("forward") or (
                function.name in library.GRADIENT_HOOKS and function.owner.bases
            ):
                return True
            is_module = self._facts.machine.kind_of_class(function.owner) == "model"
            if function.name == "__init__" and (is_module or function.owner.find("forward") is not None):
                return True
            is_own = (isinstance(receiver, Object) and receiver.parent is frame.receiver) or receiver is frame.receiver
            if is_module and (is_own or self._is_of_its_own_part):
                return True
        return False

    @property
    def _is_of_its_own_part(self) -> bool:
        """Whether a method calls what its own object holds."""
        owner, name = self.record.frame.receiver, self.callee.partition(".")[2]
        held = self._facts.machine.heap.get((owner.id, name)) if isinstance(owner, Object) else None
        return held is not None and held is self.record.receiver

    @property
    def is_in_a_test(self) -> bool:
        """Whether this is written for a test runner: a graph that lives as long as one test costs nothing."""
        return self._facts.is_test_module

    @property
    def is_meant_for_inference(self) -> Truth:
        """Whether the model was put, or came, in evaluation mode here and the program never trains it."""
        in_evaluation, trained = self.is_in_evaluation_mode, self.model_is_trained
        if in_evaluation is not YES:
            return answer(in_evaluation)
        receiver = self.record.receiver
        if isinstance(receiver, Object) and receiver.is_outside:
            # Only an `eval()` on the way here says so.
            return answer(YES if "eval" in self._facts.machine.uses.get(receiver.id, ()) else UNKNOWN)
        return answer({YES: UNKNOWN, NO: YES, UNKNOWN: UNKNOWN}[trained])

    @property
    def is_in_a_loop(self) -> bool:
        return bool(self.record.loops)

    def is_guarded_by(self, *words: str) -> bool:
        """Whether a test that mentions one of the words decided that this call is reached."""
        return mention(self._facts, (test for test, _ in self.record.guards), words)

    # ------------------------------------------------------------ what is passed

    def argument(self, name: str, position: int | None = None) -> Argument | None:
        """What is passed for a parameter, however it is passed; None where nothing is, or where that can't be seen.

        `position` is only for what is in no table of signatures, or is called by everybody.
        """
        if position is None and name not in self.record.arguments.keywords:
            position = position_of(self.record, name)
        value = self.record.arguments.get(name, position)
        return None if value is None else Argument(self, name, position, value)

    def places_of_argument(self, name: str, position: int | None) -> tuple[Place | None, Place | None]:
        """Where an argument stands in the call, with its keyword and without."""
        return self._facts.places_of_argument(self.record.node, name, position)

    def passes(self, *names: str) -> Truth:
        """Whether something is passed for one of the parameters."""
        arguments = self.record.arguments
        if any(self.argument(name) is not None for name in names):
            return answer(YES)
        return answer(NO if arguments.is_complete else UNKNOWN)

    # ------------------------------------------------------------ context

    @property
    def gradients(self) -> Truth:
        """Whether torch records operations for a backward pass here."""
        return answer(_switch(self.record.gradients))

    @property
    def gradients_for_callers(self) -> Truth:
        """The same where other modules of the project lead here; YES if none does."""
        return answer(self._facts.callers.gradients(self))

    @property
    def autocast(self) -> Truth:
        return answer(_switch(self.record.autocast))

    @property
    def is_in_evaluation_mode(self) -> Truth:
        """Whether the model that is called was put, or comes, in evaluation mode."""
        training, receiver = self.record.state.get("training"), self.record.receiver
        is_sometimes = isinstance(receiver, Object) and receiver.id in self._facts.machine.switched_in_a_branch
        truth = _switch(training) if training is not None and not is_sometimes else UNKNOWN
        return answer({YES: NO, NO: YES, UNKNOWN: UNKNOWN}[truth])

    def states(self, name: str) -> list[Choice]:
        """The constants that the called model's `dtype` or `device` may be now, each with the test that decides.

        Empty if something else may be too, or if nothing says what decides: a table by device, say.
        """
        value = self.record.state.get(name)
        found = [] if value is None else self._facts.choices(value)
        return found if len(found) == 1 or all(choice.conditions for choice in found) else []

    # ------------------------------------------------------------ where the result goes

    @property
    def reaches_gradient(self) -> Truth:
        """Whether somebody computes gradients of what this call returns."""
        machine, id = self._facts.machine, self.record.id
        if id in machine.reached_gradient:
            return answer(YES)
        is_lost = id in machine.escaped or id in machine.returned or OVERFLOW in machine.reached_gradient
        return answer(UNKNOWN if is_lost or not machine.is_complete else NO)

    @property
    def model_is_trained(self) -> Truth:
        """Whether the program trains the model that is called: puts it in training mode, or computes gradients of it."""
        machine, receiver = self._facts.machine, self.record.receiver
        if not isinstance(receiver, Object):
            return answer(UNKNOWN)
        if "train" in machine.uses.get(receiver.id, ()):
            return answer(YES)
        for record in self._facts.index.on(receiver.id):
            if record.receiver is receiver and record.id in machine.reached_gradient:
                return answer(YES)
        return answer(NO if not receiver.is_outside else UNKNOWN)

    @property
    def model_is_frozen(self) -> Truth:
        """Whether parameters of the model that is called no longer require gradients: UNKNOWN if some may."""
        machine, receiver = self._facts.machine, self.record.receiver
        if not isinstance(receiver, Object):
            return answer(UNKNOWN)
        return answer(UNKNOWN if may_be_frozen(machine, receiver) else NO)

    @property
    def model_needs_gradients(self) -> Truth:
        """Whether some parameter of the model that is called requires gradients, so that its forward builds a graph."""
        machine, receiver = self._facts.machine, self.record.receiver
        if isinstance(receiver, Object) and not has_autograd(receiver):
            return answer(NO)
        if isinstance(receiver, Object) and receiver.id in machine.adapted:
            return answer(YES if keeps_adapters(machine, receiver) else UNKNOWN)
        return answer(YES if self.model_is_frozen is NO else UNKNOWN)

    @property
    def is_the_other_choice(self) -> bool:
        """Whether one test decides between this forward and one of the same model with gradients off."""
        return is_the_other_choice(self._facts, self.record)

    @property
    def model_is_optimized(self) -> Truth:
        """Whether an optimizer of torch is given the parameters of the model that is called as they are.

        A program that casts them first keeps a copy in float32 to train.
        """
        receiver = self.record.receiver
        return answer(are_optimized(self._facts, receiver) if isinstance(receiver, Object) else UNKNOWN)

    @property
    def model_has_learned(self) -> Truth:
        """Whether the weights of the model that is called are worth something: loaded, trained or put to evaluation."""
        machine, receiver = self._facts.machine, self.record.receiver
        if not isinstance(receiver, Object):
            return answer(UNKNOWN)
        owner = receiver.parent if receiver.parent is not None and not receiver.parent.is_outside else receiver
        uses = machine.uses.get(owner.id, set())
        # An annotation alone is not enough: programs write `nn.Module` where they take a class of modules.
        comes_ready = owner.is_outside and owner.call is None and len(uses) > 1
        if uses & {"eval", "load_state_dict"} or self.model_is_trained is YES or comes_ready:
            return answer(YES)
        made = machine.calls.get(owner.call) if owner.call is not None else None
        return answer(YES if made is not None and made.name.rpartition(".")[2] == "from_pretrained" else NO)

    @property
    def is_only_returned(self) -> Truth:
        """Whether the one thing unknown of the result is what an unknown caller does with it."""
        machine, id = self._facts.machine, self.record.id
        if id in machine.reached_gradient or id in machine.escaped or not machine.is_complete:
            return answer(NO)
        if any(name in self._facts.differentiated_names or makes_a_loss(name) for name in self.function_names):
            return answer(NO)
        return answer(YES if id in machine.returned else NO)

    @property
    def length_is_examined(self) -> Truth:
        """Whether the program looks at how long the text that goes in, or what comes out, is."""
        machine = self._facts.machine
        id = self.record.id
        texts = machine.flow_of(self.record.arguments) | self.record.flow
        if ({id} | texts) & machine.length_examined or texts & (self._facts.counted | machine.cut):
            return answer(YES)
        return answer(UNKNOWN if id in machine.handed_out or not machine.is_complete else NO)

    @property
    def cuts_text(self) -> Place | None:
        """The argument by which this tokenization cuts what is too long; None where it certainly doesn't, or may not."""
        truncation = self.argument("truncation", None)
        if truncation is not None:
            cuts = truncation.constant is True or truncation.constant in {"longest_first", "only_first", "only_second"}
            return (truncation.place or self.place) if cuts else None
        limit = self.argument("max_length")
        if (
            limit is None
            or limit.constant is None
            or self.record.name == "apply_chat_template"
            or self.is_of_a_pipeline
        ):
            return None
        # With `padding` and without `truncation` nothing is cut (seen in transformers 5.24).
        return limit.place if self.passes("padding", "pad_to_max_length") is NO else None

    @property
    def is_of_a_pipeline(self) -> bool:
        """Whether a pipeline is called, which tokenizes by itself."""
        receiver = self.record.receiver
        return isinstance(receiver, Object) and self._facts.machine.kind(receiver) == "pipeline"

    @property
    def limit(self) -> str | None:
        """The length that this tokenization cuts to, as the program writes it; None where that says too little."""
        limit = self.argument("max_length")
        text = limit.value_place.text if limit is not None and limit.value_place is not None else ""
        if limit is not None and text != "None":
            return text if text and not any(mark in text for mark in ("\n", "(", ":=")) else None
        node, name = self.record.node, self.record.name
        tokenizer = node.func if isinstance(node, ast.Call) else None
        if name != "()" and isinstance(tokenizer, ast.Attribute):
            tokenizer = tokenizer.value
        if not isinstance(tokenizer, (ast.Name, ast.Attribute)):
            return None
        return f"{self._facts.text_of(tokenizer)}.model_max_length"

    @property
    def limit_is_asked_for(self) -> bool:
        """Whether a caller that is not seen has to say how long a text may be, and so knows that it is cut."""
        limit = self.record.arguments.get("max_length")
        choices = options(limit) if limit is not None else ()
        return any(isinstance(choice, Object) and choice.is_outside and choice.parent is None for choice, _ in choices)

    @property
    def result_name(self) -> str | None:
        """The variable that this call's result, as it is or moved by `.to()`, is all that is assigned to."""
        return self._facts.result_names.get(self.record.node)

    @property
    def text_is_written_here(self) -> bool:
        """Whether the text that goes in is a constant of the function that tokenizes it, or a list of such."""
        return self.record.id in self._facts.machine.written

    @property
    def prepares_training(self) -> Truth:
        """Whether what this returns is trained on; NO only if it is seen to go into a model that isn't trained with it."""
        id = self.record.id
        is_trained_on = id in self._facts.machine.reached_gradient or id in self._facts.fed_to_training
        if is_trained_on or self.passes("text_target") is YES:
            return answer(YES)
        return answer(NO if self.is_of_a_pipeline or id in self._facts.fed_to_inference else UNKNOWN)

    def devices(self) -> list[Choice]:
        """The devices that the called model may be on, as far as they are known; empty if something moved it unseen."""
        machine, receiver = self._facts.machine, self.record.receiver
        if self._facts.sets_default_device or (isinstance(receiver, Object) and receiver.id in machine.escaped):
            return []
        value = self.record.state.get("device")
        return [] if value is None else self._devices_in(value, ())

    def _devices_in(self, value: Value, conditions: tuple[Condition, ...]) -> list[Choice]:
        found: list[Choice] = []
        for option, more in options(value):
            every = conditions + more
            if isinstance(option, Constant) and isinstance(option.value, str):
                name = option.value.partition(":")[0]
                found.append(Choice(self._facts, name, option.node, every, is_default=option.may))
            elif isinstance(option, Opaque) and option.cls == "torch.device" and option.call is not None:
                made = self._facts.machine.calls.get(option.call)
                named = made.arguments.get("device", 0) or made.arguments.get("type") if made is not None else None
                found += self._devices_in(named, every) if named is not None else []
        return found

    @property
    def float32_input(self) -> Place | None:
        """An argument that is certainly a float32 tensor, and that the model multiplies as it comes."""
        arguments = self.record.arguments
        named = {name: value for name, value in arguments.keywords.items() if name in library.FLOAT_INPUTS}
        receiver = self.record.receiver
        kind = self._facts.machine.kind(receiver) if isinstance(receiver, Object) else None
        if kind not in {"model", "module"} or self._facts.sets_default_dtype:
            return None
        # What follows the ids, or the pixels, is a mask.
        first = 1 if isinstance(receiver, Object) and isinstance(receiver.cls, str) else None
        for value in (*arguments.positional[:first], *named.values(), *arguments.spread):
            made = self._facts.machine.calls.get(value.call or 0) if isinstance(value, Opaque) else None
            if made is None or not isinstance(value, Opaque):
                continue
            if value.cls in library.FLOAT32_TENSORS:
                is_met = "dtype" not in made.arguments.keywords and made.arguments.is_complete and not self._casts
            else:
                is_met = str(value.cls).startswith(library.FEATURES) and self._takes_features(str(value.cls))
            if is_met:
                return self._facts.place(made.node)
        return None

    @property
    def _casts(self) -> bool:
        """Whether the module that is called may cast what it is given."""
        cls = self.record.receiver.cls if isinstance(self.record.receiver, Object) else None
        forward = cls.find("forward") if isinstance(cls, Class) else None
        if not isinstance(forward, Function):
            return not isinstance(cls, str)
        text = self._facts.text_of(forward.node)
        return any(word in text for word in (".to(", ".half(", ".type", "dtype", "autocast"))

    def _takes_features(self, cls: str) -> bool:
        """Whether the model computes with what a processor returned as it comes, without a cast."""
        from llm_lsp.knowledge.auto_classes import type_of_class

        receiver = self.record.receiver
        own = type_of_class(str(receiver.cls).rpartition(".")[2]) if isinstance(receiver, Object) else None
        if own in library.CASTS_NO_FEATURES or cls.rpartition(".")[2] in library.FLOAT_FEATURES:
            return True
        model = self.model
        found = [self._facts.world.checkpoint(str(name.value)) for name in model.names] if model is not None else []
        types = {one.model_type.value if one and one.model_type and one.model_type.confirmed else "" for one in found}
        return bool(types) and types <= library.CASTS_NO_FEATURES

    @property
    def model(self) -> Loaded | None:
        """The model that is called, where its checkpoint is known."""
        receiver = self.record.receiver
        return self._facts.loaded(receiver) if isinstance(receiver, Object) else None


def _switch(value: Value) -> Truth:
    if isinstance(value, Constant) and isinstance(value.value, bool):
        return YES if value.value else NO
    return UNKNOWN
