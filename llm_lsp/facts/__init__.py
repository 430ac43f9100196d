"""What a program does with models, tokenizers, tensors, optimizers and generators.

`Facts` is all that a rule sees. The interpreter behind it (`interpreter.py`, in layers down to `values.py`) runs the
module once, abstractly; the questions here only read what it wrote down.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from llm_lsp.facts.call_index import CallIndex
from llm_lsp.facts.chains import where_all_chains_agree
from llm_lsp.facts.choices import Argument, Choice, constants_of, is_part_of_call
from llm_lsp.facts.events import CallRecord
from llm_lsp.facts.extents import TRAINS, Extent, inference_around, training_nodes
from llm_lsp.facts.guards import assigned_tests
from llm_lsp.facts.loads import Loaded, loaded, loaded_by, model_types, pretrained_parts
from llm_lsp.facts.machine import Stopped
from llm_lsp.facts.meetings import Meeting, Meetings
from llm_lsp.facts.place import Place
from llm_lsp.facts.program import Program
from llm_lsp.facts.runs import counted, is_model, runs_of_models, tokenizations
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, set_answer_hook
from llm_lsp.facts.values import Object, Value
from llm_lsp.facts.views import Call
from llm_lsp.facts.written import (
    is_visible,
    names_of_libraries,
    names_of_results,
    places_of_argument,
    spelled,
    target_of,
)
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts.accelerators import Bypass
    from llm_lsp.facts.added_tokens import AddedTokens
    from llm_lsp.facts.answers import WrittenText
    from llm_lsp.facts.attention import AttentionRequest
    from llm_lsp.facts.callers import Callers
    from llm_lsp.facts.chats import ChatPrompt, RenderedChat
    from llm_lsp.facts.collected import CollectedTensor
    from llm_lsp.facts.coroutines import Blocking
    from llm_lsp.facts.credentials import WrittenSecret
    from llm_lsp.facts.debuggers import DebuggerStop
    from llm_lsp.facts.distributions import Divergence, ScoreLoss
    from llm_lsp.facts.dropouts import Dropout
    from llm_lsp.facts.events import Frame
    from llm_lsp.facts.generation import Generation
    from llm_lsp.facts.heads import ModelLoad
    from llm_lsp.facts.ignored_labels import DecodedIds
    from llm_lsp.facts.input_devices import TokenizedInputs
    from llm_lsp.facts.kept_logits import KeptLogits
    from llm_lsp.facts.labels import PaddedLabels
    from llm_lsp.facts.late_changes import LateChange
    from llm_lsp.facts.layers import HiddenLayers, HiddenTensor
    from llm_lsp.facts.lengths import Length
    from llm_lsp.facts.masked_ends import MaskedEnds
    from llm_lsp.facts.masks import UnmaskedRun
    from llm_lsp.facts.microbatches import MicroBatches
    from llm_lsp.facts.migrations import GoneArgument
    from llm_lsp.facts.modes import Inference
    from llm_lsp.facts.overrides import Override
    from llm_lsp.facts.pad_tokens import Padding
    from llm_lsp.facts.padding import PaddedPrompts
    from llm_lsp.facts.randomness import Generator
    from llm_lsp.facts.recomputed import RecomputedPart
    from llm_lsp.facts.rounds import KeptMode, RepeatedLoader
    from llm_lsp.facts.saves import Save
    from llm_lsp.facts.scaling import Clipping, HalfTraining
    from llm_lsp.facts.schedules import ScheduleStep
    from llm_lsp.facts.shifts import LabelledRun
    from llm_lsp.facts.sums import RunningSum
    from llm_lsp.facts.tensor_keys import TensorKey
    from llm_lsp.facts.tensor_types import ArrayConversion
    from llm_lsp.facts.token_means import TokenMean
    from llm_lsp.facts.unpickling import CheckpointRead
    from llm_lsp.facts.updates import Update
    from llm_lsp.facts.ways import Ways
    from llm_lsp.facts.workers import WorkedDataset
    from llm_lsp.source import Source
    from llm_lsp.world import World

__all__ = [
    "NO",
    "UNKNOWN",
    "YES",
    "Argument",
    "Call",
    "Choice",
    "Extent",
    "Facts",
    "Loaded",
    "Meeting",
    "Place",
    "Stopped",
    "Truth",
    "set_answer_hook",
]


class Facts:
    """What is known of one file."""

    def __init__(
        self, source: Source, world: World, stop: Callable[[], bool] | None = None, *, entered: Source | None = None
    ) -> None:
        """`entered` is a module of the project whose functions are entered from wherever this one calls them."""
        self.source = source
        self.world = world
        self.stop = stop
        self.machine = Program(source, world, stop, entered=entered)
        self.machine.run_script()
        self.script_records = list(self.machine.calls.values())
        """The calls that running the module as a script leads to."""
        self._loaded: dict[Object, Loaded | None] = {}

    @cached_property
    def records(self) -> list[CallRecord]:
        """All calls, those of the functions that nobody calls included."""
        self.machine.run_roots()
        return list(self.machine.calls.values())

    @cached_property
    def index(self) -> CallIndex:
        """The same, for who looks for some of them."""
        return CallIndex(self.records)

    def close(self) -> None:
        """Let go of everything; no question may be asked afterwards."""
        self.machine.clear()
        self.script_records.clear()
        self._loaded.clear()
        for kept in ("records", "index", "ways", "_runs", "_forwards", "_names_of_libraries"):
            self.__dict__.pop(kept, None)

    # ------------------------------------------------------------ places

    def place(self, node: ast.AST) -> Place:
        source = self.source_of(node)
        found = source.range_of(node)
        return Place(source.path, found, source.segment(found))

    def place_here(self, node: ast.AST) -> Place | None:
        """Where this module writes the call, or makes the one that leads to it in another module."""
        if self.source_of(node) is self.source:
            return self.place(node)
        made = next((record for record in self.machine.calls.values() if is_part_of_call(node, record.node)), None)
        for call in made.frame.chain() if made is not None else ():
            if call.call is not None and self.source_of(call.call) is self.source:
                return self.place(call.call)
        return None

    def text_of(self, node: ast.AST) -> str:
        """The text of an expression."""
        source = self.source_of(node)
        return source.segment(source.range_of(node))

    def source_of(self, node: ast.AST) -> Source:
        imported = [source for frame, source in self.machine.sources.items() if frame != 0]
        if not imported or self.source.holds(node):
            return self.source
        return next((source for source in imported if source.holds(node)), self.source)

    def places_of_argument(self, node: ast.AST, name: str, position: int | None) -> tuple[Place | None, Place | None]:
        """Where an argument stands in the call, with its keyword and without."""
        return places_of_argument(self, node, name, position)

    def is_visible(self, place: Place, there: Call, here: Call) -> bool:
        """Whether the expression at `place`, evaluated at the call `there`, means the same at the call `here`."""
        return is_visible(self, place, there, here)

    def spelled(self, name: str) -> str:
        """How this module writes a library's qualified name: `t.no_grad` after `import torch as t`."""
        return spelled(self._names_of_libraries, name)

    def can_be_spelled(self, name: str) -> bool:
        """Whether this module imports what leads to a library's qualified name."""
        parts = name.split(".")
        return any(".".join(parts[:end]) in self._names_of_libraries for end in range(1, len(parts) + 1))

    @cached_property
    def _names_of_libraries(self) -> dict[str, str]:
        return names_of_libraries(self)

    def inference_around(self, call: Call, place: Place) -> Extent | None:
        """The function around `place` if it only infers; else the outermost such loop there, or the statement."""
        return inference_around(self, call, place)

    @cached_property
    def training_nodes(self) -> frozenset[ast.AST]:
        return training_nodes(self)

    @cached_property
    def is_test_module(self) -> bool:
        name = self.source.path.rpartition("/")[2]
        return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"

    # ------------------------------------------------------------ calls

    def every_call(self) -> Iterator[Call]:
        """All calls, in the order in which they are first made."""
        return (Call(self, record) for record in self.records)

    def calls(self, *names: str) -> Iterator[Call]:
        """The calls of functions with these qualified names, or of methods with these bare names."""
        return (Call(self, record) for record in self.index.named(names))

    def forwards(self) -> Iterator[Call]:
        """The calls of a model, or of what is one by the way it is used."""
        return iter(self._forwards)

    def runs_of_models(self) -> Iterator[Call]:
        """The calls that make a model compute: forwards and `generate`, and those of pipelines."""
        return iter(self._runs)

    @cached_property
    def _runs(self) -> list[Call]:
        return list(runs_of_models(self))

    @cached_property
    def _forwards(self) -> list[Call]:
        return [run for run in self._runs if run.name == "()" and not run.is_of_a_pipeline]

    def array_conversions(self) -> Iterator[ArrayConversion]:
        """The calls of `numpy()`."""
        from llm_lsp.facts.tensor_types import array_conversions

        return array_conversions(self)

    def blocking_inferences(self) -> Iterator[Blocking]:
        """The calls in coroutines that compute with a model before they return."""
        from llm_lsp.facts.coroutines import blocking_inferences

        return blocking_inferences(self)

    def kept_logits(self) -> Iterator[KeptLogits]:
        """The trainers that are given a function of the program for metrics."""
        from llm_lsp.facts.kept_logits import kept_logits

        return kept_logits(self)

    def kept_modes(self) -> Iterator[KeptMode]:
        """The `eval()` calls in a loop that a training pass of a later round may find as they left the model."""
        from llm_lsp.facts.rounds import kept_modes

        return kept_modes(self)

    def inferences(self) -> Iterator[Inference]:
        """The forwards of models of which no gradients are computed."""
        from llm_lsp.facts.modes import inferences

        return inferences(self)

    def recomputed_parts(self) -> Iterator[RecomputedPart]:
        """The re-entrant checkpoints."""
        from llm_lsp.facts.recomputed import recomputed_parts

        return recomputed_parts(self)

    def repeated_loaders(self) -> Iterator[RepeatedLoader]:
        """The loaders with a distributed sampler that are run through inside a loop."""
        from llm_lsp.facts.rounds import repeated_loaders

        return repeated_loaders(self)

    def generators(self) -> Iterator[Generator]:
        """The generators of random numbers that the program's entry points draw from."""
        from llm_lsp.facts.randomness import generators

        return generators(self)

    def running_sums(self) -> Iterator[RunningSum]:
        """The sums that go on from round to round of a loop, and of whose terms there may be gradients."""
        from llm_lsp.facts.sums import running_sums

        return running_sums(self)

    def score_losses(self) -> Iterator[ScoreLoss]:
        """The calls of losses that normalize what they are given, or take log-probabilities."""
        from llm_lsp.facts.distributions import score_losses

        return score_losses(self)

    def divergences(self) -> Iterator[Divergence]:
        """The calls of the Kullback-Leibler divergence."""
        from llm_lsp.facts.distributions import divergences

        return divergences(self)

    def updates(self) -> Iterator[Update]:
        """The steps of optimizers in loops that compute gradients."""
        from llm_lsp.facts.updates import updates

        return updates(self)

    def micro_batches(self) -> Iterator[MicroBatches]:
        """The calls of `backward` that are made several times for one step of an optimizer."""
        from llm_lsp.facts.microbatches import micro_batches

        return micro_batches(self)

    def accelerator_bypasses(self) -> Iterator[Bypass]:
        """The calls that compute or clip gradients past the accelerator that prepared the model."""
        from llm_lsp.facts.accelerators import bypasses

        return bypasses(self)

    def worked_datasets(self) -> Iterator[WorkedDataset]:
        """The loaders of datasets that are classes of the program."""
        from llm_lsp.facts.workers import worked_datasets

        return worked_datasets(self)

    def saves(self) -> Iterator[Save]:
        """The calls that write a checkpoint, where something of the program is of several processes."""
        from llm_lsp.facts.saves import saves

        return saves(self)

    def hidden_layers(self) -> Iterator[HiddenLayers]:
        """The plain containers of layers, or parameters, that modules of the program hold."""
        from llm_lsp.facts.layers import hidden_layers

        return hidden_layers(self)

    def hidden_tensors(self) -> Iterator[HiddenTensor]:
        """The tensors that ask for gradients, and are attributes of modules without being their parameters."""
        from llm_lsp.facts.layers import hidden_tensors

        return hidden_tensors(self)

    def late_changes(self) -> Iterator[LateChange]:
        """What gives a model other parameters, or moves it, after an optimizer of its parameters was made."""
        from llm_lsp.facts.late_changes import late_changes

        return late_changes(self)

    def schedule_steps(self) -> Iterator[ScheduleStep]:
        """The steps of learning rate schedules."""
        from llm_lsp.facts.schedules import schedule_steps

        return schedule_steps(self)

    def collected_tensors(self) -> Iterator[CollectedTensor]:
        """What loops append, round by round, of what models gave to lists that are older than the round."""
        from llm_lsp.facts.collected import collected_tensors

        return collected_tensors(self)

    def debugger_stops(self) -> Iterator[DebuggerStop]:
        """The calls that wait for somebody at a debugger."""
        from llm_lsp.facts.debuggers import debugger_stops

        return debugger_stops(self)

    def written_secrets(self) -> Iterator[WrittenSecret]:
        """The texts in the form of a token or key, comments included."""
        from llm_lsp.facts.credentials import written_secrets

        return written_secrets(self)

    def tensor_keys(self) -> Iterator[TensorKey]:
        """What is stored under in dictionaries, and in sets."""
        from llm_lsp.facts.tensor_keys import tensor_keys

        return tensor_keys(self)

    def gone_arguments(self) -> Iterator[GoneArgument]:
        """The arguments that some version of transformers has renamed or taken away."""
        from llm_lsp.facts.migrations import gone_arguments

        return gone_arguments(self)

    def dropouts(self) -> Iterator[Dropout]:
        """The calls of functions that drop, where a module of the program leads to them."""
        from llm_lsp.facts.dropouts import dropouts

        return dropouts(self)

    def overrides(self, method: str) -> Iterator[Override]:
        """The methods of this name in classes of this module that a trainer of transformers or trl is a base of."""
        from llm_lsp.facts.overrides import overrides

        return overrides(self, method)

    def checkpoint_reads(self) -> Iterator[CheckpointRead]:
        """The calls of `torch.load`."""
        from llm_lsp.facts.unpickling import checkpoint_reads

        return checkpoint_reads(self)

    def clippings(self) -> Iterator[Clipping]:
        """The calls that clip gradients of a loss that a scaler has scaled."""
        from llm_lsp.facts.scaling import clippings

        return clippings(self)

    def half_trainings(self) -> Iterator[HalfTraining]:
        """Where weights in float16 come to what trains with a loss scaler."""
        from llm_lsp.facts.scaling import half_trainings

        return half_trainings(self)

    def tokenizations(self) -> Iterator[Call]:
        """The calls that turn text into ids, or make a pipeline do so."""
        return tokenizations(self)

    @cached_property
    def result_names(self) -> dict[ast.AST, str]:
        """Calls to the variables that their results are assigned to by a statement of its own."""
        return names_of_results(self.source)

    def target_of(self, node: ast.AST) -> str | None:
        """The variable or attribute that a statement assigns the expression to, as it is written."""
        return target_of(self, node)

    @cached_property
    def tried(self) -> list[frozenset[ast.AST]]:
        """What stands in each `try` that has a handler, or in the handler."""
        return [frozenset(ast.walk(block)) for block in self.machine.tried]

    # ------------------------------------------------------------ kinds

    def is_model(self, value: Object) -> Truth:
        """Whether it is a module that computes: by its class, or by two independent uses."""
        return is_model(self, value)

    def is_tokenizer(self, value: Object) -> bool:
        return self.machine.kind(value) == "tokenizer"

    def has_vocabulary(self, value: Object) -> bool:
        """Whether it is a tokenizer, of transformers or of tokenizers."""
        return self.machine.kind(value) in {"tokenizer", "fast tokenizer"}

    # ------------------------------------------------------------ checkpoints

    def choices(self, value: Value) -> list[Choice]:
        """The constants that a value may be; empty if something else may be too."""
        known = constants_of(value)
        if known is None:
            return []
        return [Choice(self, one.value, one.node, conditions, is_default=one.may) for one, conditions in known]

    def loaded(self, value: Object) -> Loaded | None:
        """How the program loads a model or tokenizer, where every name that it may be loaded by is known."""
        if value not in self._loaded:
            self._loaded[value] = loaded(self, value)
        return self._loaded[value]

    def loaded_by(self, value: Object | None, call: Call, key: str, position: int | None) -> Loaded | None:
        """What one argument of a call names; None where the name is not known."""
        return loaded_by(self, value, call, key, position)

    def model_types(self, model: Object, load: str) -> list[str]:
        """What `config.json` calls a model that `load` loads, whichever name holds; empty where one of them isn't known."""
        return model_types(self, model, load)

    def pretrained_parts(self, value: Value) -> list[Value]:
        """A module of the program stands for the one pretrained model in it; any other value for itself."""
        return pretrained_parts(self, value)

    def meetings(self) -> Iterator[Meeting]:
        """Where tokenizers and models that are both loaded by known names come together, each pair once."""
        return Meetings(self).each()

    @cached_property
    def callers(self) -> Callers:
        """What other modules of the project do with this one's functions."""
        from llm_lsp.facts.callers import Callers

        return Callers(self)

    @cached_property
    def ways(self) -> Ways:
        """How the program leads to other modules, and they to it."""
        from llm_lsp.facts.ways import Ways

        return Ways(self)

    # ------------------------------------------------------------ what goes into models

    # Each answer has a module of its own, loaded by the first rule that asks: all of them cost a fifth of a start.

    def added_tokens(self) -> Iterator[AddedTokens]:
        """Tokens that are added to a tokenizer, with the model that gets its output."""
        from llm_lsp.facts.added_tokens import added_tokens

        return added_tokens(self)

    def attention_requests(self) -> Iterator[AttentionRequest]:
        """The runs of models that are asked for their attention maps."""
        from llm_lsp.facts.attention import attention_requests

        return attention_requests(self)

    def chat_prompts(self) -> Iterator[ChatPrompt]:
        """The conversations that a chat template makes a prompt of, which a model continues."""
        from llm_lsp.facts.chats import chat_prompts

        return chat_prompts(self)

    def generations(self) -> Iterator[Generation]:
        """The calls of `generate`, and of pipelines, with what they are told."""
        from llm_lsp.facts.generation import generations

        return generations(self)

    def labelled_runs(self) -> Iterator[LabelledRun]:
        """The forwards and trainers of causal language models that are given labels."""
        from llm_lsp.facts.shifts import labelled_runs

        return labelled_runs(self)

    def lengths(self) -> Iterator[Length]:
        """The lengths that the program asks of what a model's context limits."""
        from llm_lsp.facts.lengths import lengths

        return lengths(self)

    def model_loads(self) -> Iterator[ModelLoad]:
        """The models that are loaded by name through a class that chooses by the checkpoint."""
        from llm_lsp.facts.heads import model_loads

        return model_loads(self)

    def decoded_ids(self) -> Iterator[DecodedIds]:
        """The calls that make texts of labels and predictions as a trainer or a collator gives them."""
        from llm_lsp.facts.ignored_labels import decoded_ids

        return decoded_ids(self)

    def rendered_chats(self) -> Iterator[RenderedChat]:
        """The texts that a chat template makes of conversations, where they are tokenized by a call of their own."""
        from llm_lsp.facts.chats import rendered_chats

        return rendered_chats(self)

    def tokenized_inputs(self) -> Iterator[TokenizedInputs]:
        """The runs of models on tensors as a tokenizer has made them."""
        from llm_lsp.facts.input_devices import tokenized_inputs

        return tokenized_inputs(self)

    def token_means(self) -> Iterator[TokenMean]:
        """The means over the tokens of each text, of what a model computes for them."""
        from llm_lsp.facts.token_means import token_means

        return token_means(self)

    def masked_ends(self) -> Iterator[MaskedEnds]:
        """What takes the padding out of labels by the id of the token that pads."""
        from llm_lsp.facts.masked_ends import masked_ends

        return masked_ends(self)

    def padded_labels(self) -> Iterator[PaddedLabels]:
        """The ids of padded texts that become labels."""
        from llm_lsp.facts.labels import padded_labels

        return padded_labels(self)

    def paddings(self) -> Iterator[Padding]:
        """The calls that pad with a tokenizer, or make a collator that does."""
        from llm_lsp.facts.pad_tokens import paddings

        return paddings(self)

    def written_texts(self) -> Iterator[WrittenText]:
        """The texts that decoder-only models have written behind their prompts."""
        from llm_lsp.facts.answers import written_texts

        return written_texts(self)

    def unmasked_runs(self) -> Iterator[UnmaskedRun]:
        """The runs of models on ids of padded texts that get no mask."""
        from llm_lsp.facts.masks import unmasked_runs

        return unmasked_runs(self)

    def padded_prompts(self, call: Call) -> Iterator[PaddedPrompts]:
        """The padded texts that a call of `generate` continues."""
        from llm_lsp.facts.padding import padded_prompts

        return padded_prompts(self, call)

    # ------------------------------------------------------------ chains

    def where_all_chains_agree(
        self, calls: Iterable[Call], is_faulty: Callable[[Call], bool], *, in_this_module: bool = False
    ) -> Iterator[tuple[Call, Place]]:
        """The faulty calls, each with the innermost place that only faulty chains come through.

        A helper that training and evaluation share is at fault in the evaluation alone: there its call is the place.
        With `in_this_module` the place is never one in a module that this one imports.
        """
        return where_all_chains_agree(self, calls, is_faulty, in_this_module=in_this_module)

    # ------------------------------------------------------------ the program as a whole

    @cached_property
    def trains(self) -> bool:
        """Whether gradients are computed anywhere, or a trainer is made."""
        return bool(self.index.named(TRAINS) or self.index.making("trainer"))

    @cached_property
    def differentiated_names(self) -> frozenset[str]:
        """The names by which unknown objects and modules are called for what the program computes gradients of."""
        reached = self.machine.reached_gradient
        names = {record.name for record in self.records if record.id in reached}
        return frozenset(last for name in names if (last := name.rpartition(".")[2]).isidentifier())

    @cached_property
    def training_roots(self) -> frozenset[Frame]:
        """Functions that nobody calls and that stand for the script that somebody starts, by their frames."""
        from llm_lsp.facts.training import training_roots

        return training_roots(self)

    @cached_property
    def counted(self) -> frozenset[int]:
        """Texts that were split, or tokenized whole and then counted or taken apart: their length is known."""
        return counted(self)

    @cached_property
    def sets_default_device(self) -> bool:
        """Whether modules may be made elsewhere than on the CPU although nobody moves them."""
        if self.index.named(library.DEFAULT_DEVICES):
            return True
        named = tuple(name for name in ("torch.device(", "torch.cuda.device(") if name in self.source.text)
        blocks = (
            [node for node in self.source.statements if isinstance(node, (ast.With, ast.AsyncWith))] if named else []
        )
        return any(self.text_of(item.context_expr).startswith(named) for block in blocks for item in block.items)

    @cached_property
    def fed_to_training(self) -> frozenset[int]:
        """The calls whose results go into a model that is trained with them, or to a trainer."""
        from llm_lsp.facts.training import fed_to_models, fed_to_trainers

        return fed_to_models(self, is_trained=True) | fed_to_trainers(self)

    @cached_property
    def fed_to_inference(self) -> frozenset[int]:
        """The calls whose results go into a model that nobody trains with them."""
        from llm_lsp.facts.training import fed_to_models

        return fed_to_models(self, is_trained=False)

    @cached_property
    def assigned_tests(self) -> dict[str, list[ast.expr]]:
        """The tests that variables and attributes are assigned, by name."""
        return assigned_tests(self.source)

    @cached_property
    def sets_default_dtype(self) -> bool:
        """Whether tensors may be made in another type than float32 although nobody says so."""
        return bool(self.index.named(library.DEFAULT_DEVICES | {"torch.set_default_dtype"}))

    def requires(self, distribution: str, specifier: str) -> Truth:
        """Whether every version that the project works with lies in `specifier`; UNKNOWN where nothing says.

        Where only the names that the code imports say something, they exclude versions, and leave the others open.
        """
        from llm_lsp.facts.named_versions import requires

        return requires(self, distribution, specifier)

    # ------------------------------------------------------------ absence

    @cached_property
    def is_whole(self) -> bool:
        """Whether nothing of the file is hidden: no masked or half-typed line, no star import, no spent budget."""
        return (
            self.source.executed_in_order
            and not self.source.masked
            and not self.machine.has_star_import
            and not self.machine.is_half_typed
            and self.machine.is_complete
        )
