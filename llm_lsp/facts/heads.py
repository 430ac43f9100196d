"""What a program loads checkpoints as: the class, the head that it gives the model, and what becomes of that head."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Object
from llm_lsp.facts.views import Call
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.loads import Loaded
    from llm_lsp.facts.place import Place
    from llm_lsp.knowledge.auto_classes import AutoClasses
    from llm_lsp.knowledge.checkpoints import Checkpoint

__all__ = ["ModelLoad", "model_loads"]

_GENERATING = ("AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoModelForSpeechSeq2Seq", "AutoModelForImageTextToText", "AutoModelForVision2Seq")  # fmt: skip
"""The auto classes whose models generate, the usual ones first."""
_FILL_GAPS = ("ForMaskedLM", "ForPreTraining")
_HEADS_OF_TASKS = {
    "text-classification": "AutoModelForSequenceClassification",
    "sentiment-analysis": "AutoModelForSequenceClassification",
    "zero-shot-classification": "AutoModelForSequenceClassification",
    "token-classification": "AutoModelForTokenClassification",
    "ner": "AutoModelForTokenClassification",
    "question-answering": "AutoModelForQuestionAnswering",
    "image-classification": "AutoModelForImageClassification",
    "audio-classification": "AutoModelForAudioClassification",
}
"""The class by which a pipeline loads its model."""
_CLASSIFIERS = (
    "SequenceClassification", "TokenClassification", "QuestionAnswering", "MultipleChoice", "ImageClassification", "AudioClassification",
    "VideoClassification", "ObjectDetection", "SemanticSegmentation",
)  # fmt: skip
"""Heads that no pretraining leaves behind."""
_ONLY_INFERS = frozenset({
    "()", "eval", "to", "cuda", "cpu", "half", "float", "bfloat16", "generate", "num_parameters", "config", "set_attn_implementation",
    "requires_grad_",
})  # fmt: skip
"""Methods of a model that put no weights into its head."""
_LOOKS = frozenset({"builtins.print", "builtins.isinstance", "builtins.hasattr", "builtins.type", "builtins.callable"})
_DECIDES = (
    "name",
    "model",
    "type",
    "config",
    "arch",
    "task",
    "seq2seq",
    "decoder",
    "causal",
    "path",
    "checkpoint",
    "repo",
    "mode",
)
"""Words of tests that may decide which class fits."""
_HIDES_TYPE = ("config", "trust_remote_code", "state_dict", "gguf_file", "subfolder", "adapter_kwargs")


class ModelLoad:
    """One load of a model of transformers by a name that is known."""

    __slots__ = ("_facts", "_known", "call", "class_name", "loaded")

    def __init__(self, facts: Facts, loaded: Loaded, class_name: str) -> None:
        self._facts = facts
        self.loaded = loaded
        self.call = loaded.load
        self.class_name = class_name
        """The class that loads it, without its package; a pipeline's by its task."""
        found = [facts.world.checkpoint(str(name.value)) for name in loaded.names]
        self._known = [checkpoint for checkpoint in found if checkpoint is not None]
        if len(self._known) < len(found) or self._is_chosen_by_test or self._is_hidden:
            self._known = []

    # ------------------------------------------------------------ words of a message

    @property
    def class_place(self) -> Place:
        """Where the class is named; the whole call of a pipeline."""
        node = self.call.record.node
        owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
        return self._facts.place(owner if not self.is_of_a_pipeline else node)

    @property
    def place(self) -> Place:
        """The same, or where this module calls what loads the model in another one."""
        here = self._facts.place_here(self.call.record.node)
        return self.class_place if here is None or here == self.call.place else here

    @property
    def model_type(self) -> str:
        """What the checkpoint's `config.json` calls it."""
        known = self._known[0].model_type if self._known else None
        return known.value if known is not None else ""

    @property
    def is_confirmed(self) -> bool:
        """Whether a file says which type the model is."""
        return all(known.model_type is not None and known.model_type.confirmed for known in self._known)

    @property
    def is_of_a_pipeline(self) -> bool:
        return self.call.name.endswith("pipeline")

    @property
    def generating_class(self) -> str | None:
        """The auto class by which this checkpoint generates; None where it has none, or is loaded by one already."""
        found: set[str | None] = set()
        for checkpoint, classes in self._typed():
            own = checkpoint.architecture.value if checkpoint.architecture is not None else ""
            fitting = classes.auto_classes_of(own)
            found.add(next((each for each in _GENERATING if each in fitting and not own.endswith(_FILL_GAPS)), None))
        return found.pop() if len(found) == 1 else None

    # ------------------------------------------------------------ what is asked of it

    @property
    def type_is_taken(self) -> Truth:
        """Whether the auto class has a model for the checkpoint's type."""
        if self.is_of_a_pipeline:
            return answer(UNKNOWN)
        found = {classes.takes(self.class_name) for _, classes in self._typed()}
        return answer({True: YES, False: NO, None: UNKNOWN}[found.pop()] if len(found) == 1 else UNKNOWN)

    @property
    def head_is_new(self) -> Truth:
        """Whether the class adds a head that the checkpoint has no weights for."""
        found = {self._adds_head(checkpoint, classes) for checkpoint, classes in self._typed()}
        return answer(found.pop() if len(found) == 1 else UNKNOWN)

    @property
    def fills_gaps(self) -> Truth:
        """Whether the checkpoint was trained to fill gaps in a text, and not to go on with it."""
        known = [checkpoint.architecture.value for checkpoint, _ in self._typed() if checkpoint.architecture]
        is_one = bool(known) and all(own.endswith(_FILL_GAPS) for own in known)
        is_loaded_to_go_on = self.class_name == "AutoModelForCausalLM" or self.class_name.endswith("LMHeadModel")
        return answer(YES if is_one and is_loaded_to_go_on else UNKNOWN)

    @property
    def generates(self) -> bool:
        """Whether `generate` is called on it."""
        machine, model = self._facts.machine, self.loaded.object
        return model is not None and "generate" in machine.uses.get(model.id, ())

    @property
    def only_infers(self) -> Truth:
        """Whether the model is run, and nothing could have trained it or put weights into it."""
        model = self.loaded.object
        if model is None or not self._facts.is_whole or self._facts.is_test_module:
            return answer(UNKNOWN)
        if self.is_of_a_pipeline:
            return answer(YES if set(self._facts.machine.uses.get(model.id, ())) <= _ONLY_INFERS else UNKNOWN)
        return answer(YES if self._keeps_its_weights(model) and self._is_run(model) else UNKNOWN)

    # ------------------------------------------------------------ how it is known

    def _typed(self) -> list[tuple[Checkpoint, AutoClasses]]:
        """The checkpoints with what is known of their types; empty where one of them isn't known."""
        from llm_lsp.knowledge.auto_classes import auto_classes

        found: list[tuple[Checkpoint, AutoClasses]] = []
        for checkpoint in self._known:
            classes = auto_classes(checkpoint.model_type.value) if checkpoint.model_type is not None else None
            if classes is None or checkpoint.base_model is not None:
                return []
            found.append((checkpoint, classes))
        return found

    def _adds_head(self, checkpoint: Checkpoint, classes: AutoClasses) -> Truth:
        own = checkpoint.architecture.value if checkpoint.architecture is not None else ""
        given = classes.architectures(self.class_name) or frozenset({self.class_name})
        head = next((head for head in _CLASSIFIERS if self.class_name.endswith("For" + head)), None)
        if head is None or not own.startswith(classes.base) or not any(name.startswith(classes.base) for name in given):
            return UNKNOWN
        return NO if own in given or head in own else YES

    @property
    def _is_chosen_by_test(self) -> bool:
        """Whether a test, or an exception, may decide that this class is the one."""
        node = self.call.record.node
        if any(node in handled for handled in self._facts.tried):
            return True
        tests = [self._facts.text_of(test).lower().replace("__name__", "") for test, _ in self.call.record.guards]
        return any(word in test for test in tests for word in _DECIDES)

    @property
    def _is_hidden(self) -> bool:
        """Whether something besides its name says what the checkpoint is."""
        arguments, place = self.call.record.arguments, self.class_place
        written = place.text.rpartition(".")[2]
        is_named = self.is_of_a_pipeline or written == self.class_name or f" as {written}" in self._facts.source.text
        return not is_named or not arguments.is_complete or any(arguments.get(name) is not None for name in _HIDES_TYPE)

    def _keeps_its_weights(self, model: Object) -> bool:
        """Whether nothing is seen, or may happen, that changes the weights."""
        machine = self._facts.machine
        if (
            model.id in machine.escaped
            or model.id in machine.returned
            or not machine.uses.get(model.id, set()) <= _ONLY_INFERS
        ):
            return False
        if any(part.id == model.id for held in machine.held.values() for part in held.values()):
            # Whoever has the object that holds it may train it.
            return False
        parts = [part for part in machine.children.values() if _is_part_of(part, model)]
        if any(machine.uses.get(part.id) or part.id in machine.escaped for part in parts):
            return False
        return not any(
            record.name not in _LOOKS and kind_of(record.name) != "pipeline" and _is_given(record, model)
            for record in machine.calls.values()
        )

    def _is_run(self, model: Object) -> bool:
        """Whether it is run somewhere, and never for a gradient."""
        runs = [run for run in self._facts.runs_of_models() if _is(run.record, model)]
        pipelines = [record for record in self._facts.records if kind_of(record.name) == "pipeline"]
        is_run = any(not run.is_in_a_forward for run in runs) or any(_is_given(made, model) for made in pipelines)
        return is_run and all(_infers(run) for run in runs)


def _is_part_of(part: Object, model: Object) -> bool:
    """Whether it lies somewhere in the model, outside of its config."""
    owner = part.parent
    while owner is not None and owner.id != model.id:
        part, owner = owner, owner.parent
    return owner is not None and part.name != "config"


def _is_given(record: CallRecord, model: Object) -> bool:
    """Whether the call is passed the model."""
    return any(isinstance(value, Object) and value.id == model.id for value in record.arguments.values())


def _is(record: CallRecord, model: Object) -> bool:
    return isinstance(record.receiver, Object) and record.receiver.id == model.id


def _infers(run: Call) -> bool:
    if run.name == "generate" or run.gradients is NO or run.reaches_gradient is NO:
        return True
    return run.is_only_returned is YES and run.is_in_evaluation_mode is YES


def model_loads(facts: Facts) -> Iterator[ModelLoad]:
    """The loads of transformers' models, and of pipelines that load one, whose checkpoints' names are known."""
    for record in facts.index.with_objects:
        made = record.result
        root, _, rest = record.name.partition(".")
        if root != "transformers" or not isinstance(made, Object):
            continue
        owner, _, last = rest.rpartition(".")
        if last == "from_pretrained" and kind_of(f"transformers.{owner}") == "model":
            class_name: str | None = owner.rpartition(".")[2]
        elif last == "pipeline":
            task = Call(facts, record).argument("task", 0)
            class_name = _HEADS_OF_TASKS.get(str(task.constant)) if task is not None else None
        else:
            continue
        loaded = facts.loaded(made) if class_name is not None else None
        if loaded is not None and class_name is not None:
            yield ModelLoad(facts, loaded, class_name)
