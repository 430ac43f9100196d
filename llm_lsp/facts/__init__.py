"""What a program does with models, tokenizers, tensors, optimizers and generators.

`Facts` is all that a rule sees. The interpreter behind it (`interpreter.py`, in layers down to `values.py`) runs the
module once, abstractly; the questions here only read what it wrote down.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from llm_lsp.facts import added_tokens, lengths, padding
from llm_lsp.facts.attention import AttentionRequest, attention_requests
from llm_lsp.facts.callers import Callers
from llm_lsp.facts.coroutines import Blocking, blocking_inferences
from llm_lsp.facts.events import CallRecord
from llm_lsp.facts.extents import TRAINS, Extent, inference_around, training_nodes, way
from llm_lsp.facts.heads import ModelLoad, model_loads
from llm_lsp.facts.machine import Stopped
from llm_lsp.facts.place import Place
from llm_lsp.facts.program import Program
from llm_lsp.facts.randomness import Generator, generators
from llm_lsp.facts.rounds import KeptMode, RepeatedLoader, kept_modes, repeated_loaders
from llm_lsp.facts.scaling import Clipping, HalfTraining, clippings, half_trainings
from llm_lsp.facts.sums import RunningSum, running_sums
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer, set_answer_hook
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Symbol, Value, options
from llm_lsp.facts.views import Argument, Call, Choice, Loaded, Meeting, constants_of, is_part_of_call
from llm_lsp.knowledge import library
from llm_lsp.parsing import python_tree

if TYPE_CHECKING:
    from llm_lsp.knowledge.tokenizers import TokenizerComparison
    from llm_lsp.source import Source
    from llm_lsp.world import World

__all__ = [
    "NO",
    "UNKNOWN",
    "YES",
    "Argument",
    "AttentionRequest",
    "Blocking",
    "Call",
    "Choice",
    "Clipping",
    "Extent",
    "Facts",
    "Generator",
    "HalfTraining",
    "KeptMode",
    "Loaded",
    "Meeting",
    "ModelLoad",
    "Place",
    "RepeatedLoader",
    "RunningSum",
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

        def find(name: str, importer: str) -> Source | None:
            found = world.module(name, importer)
            return entered if entered is not None and found is not None and found.path == entered.path else found

        self.source = source
        self.world = world
        self.stop = stop
        self.machine = Program(source, find, stop, entered=None if entered is None else entered.path)
        self.machine.run_script()
        self.script_records = list(self.machine.calls.values())
        """The calls that running the module as a script leads to."""

    @cached_property
    def records(self) -> list[CallRecord]:
        """All calls, those of the functions that nobody calls included."""
        self.machine.run_roots()
        return list(self.machine.calls.values())

    def close(self) -> None:
        """Let go of everything; no question may be asked afterwards."""
        self.machine.clear()
        self.script_records.clear()
        for kept in ("records", "_records_by_name"):
            self.__dict__.pop(kept, None)

    # ------------------------------------------------------------ places

    def place(self, node: ast.AST) -> Place:
        source = self._source_of(node)
        found = source.range_of(node)
        return Place(source.path, found, source.segment(found))

    def place_here(self, node: ast.AST) -> Place | None:
        """Where this module writes the call, or makes the one that leads to it in another module."""
        if self._source_of(node) is self.source:
            return self.place(node)
        made = next((record for record in self.machine.calls.values() if is_part_of_call(node, record.node)), None)
        for call in made.frame.chain() if made is not None else ():
            if call.call is not None and self._source_of(call.call) is self.source:
                return self.place(call.call)
        return None

    def text_of(self, node: ast.AST) -> str:
        """The text of an expression."""
        source = self._source_of(node)
        return source.segment(source.range_of(node))

    def _source_of(self, node: ast.AST) -> Source:
        return self._imported_nodes.get(id(node), self.source) if len(self.machine.sources) > 1 else self.source

    @cached_property
    def _imported_nodes(self) -> dict[int, Source]:
        """The nodes of the modules that this one imports, by identity."""
        return {
            id(node): source
            for frame, source in self.machine.sources.items()
            if frame != 0
            for node in ast.walk(source.tree)
        }

    def places_of_argument(self, node: ast.AST, name: str, position: int | None) -> tuple[Place | None, Place | None]:
        """Where an argument stands in the call, with its keyword and without."""
        if not isinstance(node, ast.Call):
            return None, None
        for keyword in node.keywords:
            if keyword.arg == name:
                return self.place(keyword), self.place(keyword.value)
        if (
            position is not None
            and position < len(node.args)
            and not any(isinstance(a, ast.Starred) for a in node.args)
        ):
            found = self.place(node.args[position])
            return found, found
        return None, None

    def is_visible(self, place: Place, there: Call, here: Call) -> bool:
        """Whether the expression at `place`, evaluated at the call `there`, means the same at the call `here`."""
        if there.record.frame is not here.record.frame:
            return False
        row = here.place.range.start.row
        # In brackets, since it may go on over several lines, and end in a comment.
        expression = python_tree(f"({place.text}\n)")
        names = {node.id for node in ast.walk(expression) if isinstance(node, ast.Name)}
        if any(isinstance(node, (ast.Call, ast.Subscript)) for node in ast.walk(expression)):
            return False
        frame = here.record.frame
        function = frame.function.node if frame.function is not None else self.source.tree
        bound = {
            node.id: node.lineno
            for node in ast.walk(function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        parameters = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
        module = self.machine.frames[0].locals
        return all(bound[name] < row if name in bound else name in parameters or name in module for name in names)

    def spelled(self, name: str) -> str:
        """How this module writes a library's qualified name: `t.no_grad` after `import torch as t`."""
        root, _, rest = name.partition(".")
        for local, value in self.machine.frames[0].locals.items():
            if isinstance(value, Symbol) and value.name == name:
                return str(local)
        for local, value in self.machine.frames[0].locals.items():
            if isinstance(value, Symbol) and value.name == root:
                return f"{local}.{rest}"
        return name

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
        found = [record for name in names for record in self._records_by_name.get(name, ())]
        for record in sorted(found, key=lambda record: record.id) if len(names) > 1 else found:
            yield Call(self, record)

    @cached_property
    def _records_by_name(self) -> dict[str, list[CallRecord]]:
        """Asked by every rule: one pass instead of one for each."""
        found: dict[str, list[CallRecord]] = {}
        for record in self.records:
            found.setdefault(record.name, []).append(record)
        return found

    def forwards(self) -> Iterator[Call]:
        """The calls of a model, or of what is one by the way it is used."""
        for record in self.records:
            if record.name == "()" and isinstance(record.receiver, Object) and self.is_model(record.receiver) is YES:
                yield Call(self, record)

    def runs_of_models(self) -> Iterator[Call]:
        """The calls that make a model compute: forwards and `generate`."""
        for record in self.records:
            receiver = record.receiver if record.name in {"()", "generate"} else None
            if not isinstance(receiver, Object):
                continue
            if self.machine.kind(receiver) == "pipeline" or self.is_model(receiver) is YES:
                yield Call(self, record)

    def blocking_inferences(self) -> Iterator[Blocking]:
        """The calls in coroutines that compute with a model before they return."""
        return blocking_inferences(self)

    def kept_modes(self) -> Iterator[KeptMode]:
        """The `eval()` calls in a loop that a training pass of a later round may find as they left the model."""
        return kept_modes(self)

    def repeated_loaders(self) -> Iterator[RepeatedLoader]:
        """The loaders with a distributed sampler that are run through inside a loop."""
        return repeated_loaders(self)

    def generators(self) -> Iterator[Generator]:
        """The generators of random numbers that the program's entry points draw from."""
        return generators(self)

    def running_sums(self) -> Iterator[RunningSum]:
        """The sums that go on from round to round of a loop, and of whose terms there may be gradients."""
        return running_sums(self)

    def clippings(self) -> Iterator[Clipping]:
        """The calls that clip gradients of a loss that a scaler has scaled."""
        return clippings(self)

    def half_trainings(self) -> Iterator[HalfTraining]:
        """Where weights in float16 come to what trains with a loss scaler."""
        return half_trainings(self)

    def tokenizations(self) -> Iterator[Call]:
        """The calls that turn text into ids, or make a pipeline do so."""
        for record in self.records:
            if record.name in _TOKENIZATIONS and isinstance(record.receiver, Object):
                kind = self.machine.kind(record.receiver)
                if kind == "tokenizer" or (kind == "pipeline" and record.name == "()"):
                    yield Call(self, record)

    @cached_property
    def result_names(self) -> dict[ast.AST, str]:
        """Calls to the variables that their results are assigned to by a statement of its own."""
        found: dict[ast.AST, str] = {}
        for node in ast.walk(self.source.tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                value = node.value
                found[value] = node.targets[0].id
                if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to":
                    found[value.func.value] = node.targets[0].id
        return found

    def attention_requests(self) -> Iterator[AttentionRequest]:
        """The calls that ask for attention maps of a model that the program loads."""
        return attention_requests(self)

    def model_loads(self) -> Iterator[ModelLoad]:
        """The loads of transformers' models whose checkpoints' names are known."""
        return model_loads(self)

    @cached_property
    def tried(self) -> list[frozenset[ast.AST]]:
        """What stands in each `try` that has a handler, or in the handler."""
        blocks = (node for node in ast.walk(self.source.tree) if isinstance(node, ast.Try) and node.handlers)
        return [frozenset(ast.walk(block)) for block in blocks]

    # ------------------------------------------------------------ kinds

    def is_model(self, value: Object) -> Truth:
        """Whether it is a module that computes: by its class, or by two independent uses."""
        kind = self.machine.kind(value)
        if kind is not None:
            return answer(YES if kind in {"model", "module"} else NO)
        if value.parent is not None and self.machine.kind(value.parent) == "model" and value.name in library.SUBMODULES:
            return answer(YES)
        if not value.is_outside or isinstance(value.cls, (str, Class)):
            return answer(UNKNOWN)
        uses = self.machine.uses.get(value.id, set())
        is_one = "()" in uses and bool(uses & _USES_OF_A_MODEL)
        return answer(YES if is_one else UNKNOWN)

    def is_tokenizer(self, value: Object) -> bool:
        return self.machine.kind(value) == "tokenizer"

    def has_vocabulary(self, value: Object) -> bool:
        """Whether it is a tokenizer, of transformers or of tokenizers."""
        return self.machine.kind(value) in {"tokenizer", "fast tokenizer"}

    def _encodes(self, record: CallRecord) -> bool:
        """Whether the call turns text into ids: a tokenizer's, or a processor's that is given text."""
        receiver = record.receiver
        if not isinstance(receiver, Object) or record.name not in _TOKENIZATIONS | {"encode_batch"}:
            return False
        if self.machine.kind(receiver) == "processor":
            return record.name == "()" and "text" in record.arguments.keywords
        return self.has_vocabulary(receiver)

    # ------------------------------------------------------------ checkpoints

    def choices(self, value: Value) -> list[Choice]:
        """The constants that a value may be; empty if something else may be too."""
        known = constants_of(value)
        if known is None:
            return []
        return [Choice(self, one.value, one.node, conditions, is_default=one.may) for one, conditions in known]

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
        if record.name.startswith("sentence_transformers."):
            key = "model_name_or_path"
        return self.loaded_by(value, call, key, 1 if key == "model" else 0)

    def model_types(self, model: Object, load: str) -> list[str]:
        """What `config.json` calls a model that `load` loads, whichever name holds; empty where one of them isn't known."""
        from llm_lsp.knowledge.auto_classes import type_of_class

        own = type_of_class(load.split(".")[-2])
        loaded = self.loaded(model) if own is None else None
        found = [self.world.checkpoint(str(name.value)) for name in loaded.names] if loaded is not None else []
        known = [each.model_type.value for each in found if each is not None and each.model_type is not None]
        return [own] if own is not None else known if len(known) == len(found) else []

    def loaded_by(self, value: Object | None, call: Call, key: str, position: int | None) -> Loaded | None:
        """What one argument of a call names; None where the name is not known."""
        argument = call.argument(key, position)
        names = self.choices(argument.value) if argument is not None else []
        if argument is None or not names or not all(isinstance(name.value, str) for name in names):
            return None
        return Loaded(self, value, call, argument, tuple(names))

    def tokenizers_in(self, call: CallRecord) -> Iterator[tuple[Object, Place]]:
        """The tokenizers that the arguments come from, or are, each once, with the place where it is used."""
        seen: set[int] = set()
        arguments = call.arguments
        named = [value for name, value in arguments.keywords.items() if not name.startswith(_OF_OTHER_MODELS)]
        pending = [*arguments.positional, *named, *arguments.spread, Opaque(None, call.flow)]
        depth = 0
        while pending and depth < _DEEPEST_ARGUMENT:
            depth += 1
            following: list[Value] = []
            for value in pending:
                for option, _ in options(value):
                    if isinstance(option, Object) and self.has_vocabulary(option) and option.id not in seen:
                        seen.add(option.id)
                        yield option, self.place(option.node)
                    made_by = option.call if isinstance(option, (Opaque, Object)) else None
                    made = self.machine.calls.get(made_by) if made_by is not None else None
                    if made is not None and made.name.rpartition(".")[2].startswith("DataCollator"):
                        following.extend(made.arguments.values())
                for source in sorted(self.machine.flow(value)):
                    record = self.machine.calls.get(source)
                    if record is None:
                        continue
                    receiver = record.receiver
                    if isinstance(receiver, Object) and self._encodes(record) and receiver.id not in seen:
                        seen.add(receiver.id)
                        yield receiver, self.place(record.node)
            pending = following

    def meetings(self) -> Iterator[Meeting]:
        """Where tokenizers and models that are both loaded by known names come together, each pair once."""
        seen: set[tuple[object, object]] = set()
        for group in self._met():
            meetings = [
                (Meeting(tokenizer, model, place, comparisons), is_given)
                for tokenizer, model, place, is_given in group
                if (comparisons := self._compared(tokenizer, model))
            ]
            served = {meeting.model.id for meeting, _ in meetings if meeting.vocabulary_is_shared is YES}
            for meeting, is_given in meetings:
                key = (meeting.tokenizer.id, meeting.model.id)
                # Where its own tokenizer's ids come too, the other ones are for another model of the program.
                is_its_own = meeting.vocabulary_is_shared is YES
                if key not in seen and (is_given or is_its_own or meeting.model.id not in served):
                    seen.add(key)
                    yield meeting

    def _met(self) -> Iterator[list[tuple[Loaded, Loaded, Place, bool]]]:
        """The tokenizers and models that come together, those of one call in one list."""
        paired: set[object] = set()
        for record in self.records:
            group = list(self._met_at(record))
            paired |= {loaded.id for tokenizer, model, _, _ in group for loaded in (tokenizer, model)}
            yield group
        for tokenizer, model in self._kept_together():
            if tokenizer.id not in paired and model.id not in paired:
                yield [(tokenizer, model, model.load.place, False)]

    def _met_at(self, record: CallRecord) -> Iterator[tuple[Loaded, Loaded, Place, bool]]:
        """The pairs that one call brings together, and whether a trainer or pipeline is given the tokenizer itself."""
        kind = self._kind_made(record)
        if record.name in {"()", "generate"} and isinstance(record.receiver, Object):
            fed: Value | None = record.receiver if self.machine.kind(record.receiver) == "model" else None
        elif kind in _MODEL_POSITION:
            fed = record.arguments.get("model", _MODEL_POSITION[kind])
        else:
            return
        models = [
            model
            for option, _ in (options(fed) if fed is not None else ())
            for part in self.pretrained_parts(option)
            for model in self._models_of(part, record)
        ]
        if not models:
            return
        tokenizers = [(self.loaded(found), place) for found, place in self.tokenizers_in(record)]
        if kind in _TOKENIZER_POSITION:
            named = self.loaded_by(None, Call(self, record), "tokenizer", _TOKENIZER_POSITION[kind])
            tokenizers.append((named, self.place(record.node)))
        for model in models:
            for tokenizer, place in tokenizers:
                if tokenizer is not None and kind is not None:
                    yield tokenizer, model, self.place(record.node), place == tokenizer.load.place
                elif tokenizer is not None:
                    yield tokenizer, model, place, False

    def _kind_made(self, record: CallRecord) -> str | None:
        """What a call makes, if it makes a trainer, a pipeline or the like: a library's, or the program's own kind of it."""
        if isinstance(record.receiver, Class):
            return self.machine.kind_of_class(record.receiver)
        return "engine" if record.name in library.ENGINES else library.kind_of(record.name)

    def _kept_together(self) -> Iterator[tuple[Loaded, Loaded]]:
        """The one tokenizer and the one model that an object holds, or that a function returns together."""
        for held in (*(list(held.values()) for held in self.machine.held.values()), *self.machine.returned_together):
            tokenizers = [value for value in held if self.is_tokenizer(value)]
            models = [value for value in held if self.machine.kind(value) == "model"]
            if len(tokenizers) == 1 and len(models) == 1 and not self._has_own_rows(models[0]):
                tokenizer, model = self.loaded(tokenizers[0]), self.loaded(models[0])
                if tokenizer is not None and model is not None:
                    yield tokenizer, model

    def pretrained_parts(self, value: Value) -> list[Value]:
        """A module of the program stands for the one pretrained model in it; any other value for itself."""
        if not isinstance(value, Object) or not isinstance(value.cls, Class):
            return [value]
        held = self.machine.held.get(value.id, {}).values()
        models = [part for part in held if self.machine.kind(part) == "model"]
        return [*models] if len(models) == 1 else [value]

    def _models_of(self, value: Value, record: CallRecord) -> Iterator[Loaded]:
        if isinstance(value, Object) and not self._has_own_rows(value):
            model = self.loaded(value)
        elif isinstance(value, Constant):
            model = self.loaded_by(None, Call(self, record), "model", _MODEL_POSITION[self._kind_made(record) or ""])
        else:
            model = None
        if model is not None:
            yield model

    def _has_own_rows(self, model: Object) -> bool:
        """Whether the program itself decides what tokens the model has."""
        return not {"resize_token_embeddings", "set_input_embeddings"}.isdisjoint(self.machine.uses.get(model.id, ()))

    def _compared(self, tokenizer: Loaded, model: Loaded) -> list[TokenizerComparison]:
        """One comparison for each pair of names that can hold together; none if a checkpoint is unknown."""
        from llm_lsp.knowledge.checkpoints import compare_tokenizers

        found: list[TokenizerComparison] = []
        for one in tokenizer.names:
            for other in model.names:
                if not one.agrees_with(other):
                    continue
                first, second = self.world.checkpoint(str(one.value)), self.world.checkpoint(str(other.value))
                if first is None or second is None:
                    return []
                found.append(compare_tokenizers(first, second))
        return found

    @cached_property
    def callers(self) -> Callers:
        """What other modules of the project do with this one's functions."""
        return Callers(self)

    # ------------------------------------------------------------ what goes into models

    added_tokens = added_tokens.added_tokens
    lengths = lengths.lengths
    padded_prompts = padding.padded_prompts

    # ------------------------------------------------------------ chains

    def where_all_chains_agree(
        self, calls: Iterable[Call], is_faulty: Callable[[Call], bool]
    ) -> Iterator[tuple[Call, Place]]:
        """The faulty calls, each with the innermost place that only faulty chains come through.

        A helper that training and evaluation share is at fault in the evaluation alone: there its call is the place.
        """
        faulty = [call for call in calls if is_faulty(call)]
        known = {(call.record.node, call.name) for call in faulty}
        ids = {call.record.id for call in faulty}
        innocent = [
            way(call)
            for call in self.every_call()
            if (call.record.node, call.name) in known and call.record.id not in ids
        ]
        seen: set[tuple[int, int]] = set()
        for call in faulty:
            for node in way(call):
                if not any(node in way for way in innocent):
                    place = self.place(node)
                    key = (place.range.start.row, place.range.start.column)
                    if key not in seen:
                        seen.add(key)
                        yield call, place
                    break

    # ------------------------------------------------------------ the program as a whole

    @cached_property
    def trains(self) -> bool:
        """Whether gradients are computed anywhere, or a trainer is made."""
        return any(record.name in TRAINS or library.kind_of(record.name) == "trainer" for record in self.records)

    @cached_property
    def differentiated_names(self) -> frozenset[str]:
        """The names by which unknown objects and modules are called for what the program computes gradients of."""
        reached = self.machine.reached_gradient
        found = (record.name.rpartition(".")[2] for record in self.records if record.id in reached)
        return frozenset(name for name in found if name.isidentifier())

    @cached_property
    def training_roots(self) -> frozenset[int]:
        """Frames of functions that nobody calls and that themselves make a model or an optimizer and train it.

        Such a function stands for the script that somebody starts, unless the module is part of a package.
        """
        makes: set[int] = set()
        trains: set[int] = set()
        for record in self.records:
            root = record.frame.root
            if root.function is None or root.function.owner is not None:
                continue
            if record.name in TRAINS:
                trains.add(root.id)
            elif isinstance(record.result, Object) and self.machine.kind(record.result) in {"model", "optimizer"}:
                makes.add(root.id)
        found = frozenset(makes & trains)
        return found if found and self.world.module(".", self.source.path) is None else frozenset()

    @cached_property
    def counted(self) -> frozenset[int]:
        """Texts that were split, or tokenized whole and then counted or taken apart: their length is known."""
        found: set[int] = set()
        known = self.machine.length_examined | self.machine.sliced
        for call in self.tokenizations():
            if call.record.id in known and call.cuts_text is None:
                found |= self.machine.flow_of(call.record.arguments) | call.record.flow
        for record in self.records:
            is_split = library.splits_text(record.name)
            if is_split or (record.name in library.MAKES_TOKENS and record.id in known):
                found |= self.machine.flow_of(record.arguments)
        return frozenset(found)

    @cached_property
    def sets_default_device(self) -> bool:
        """Whether modules may be made elsewhere than on the CPU although nobody moves them."""
        if any(record.name in library.DEFAULT_DEVICES for record in self.records):
            return True
        blocks = (node for node in ast.walk(self.source.tree) if isinstance(node, (ast.With, ast.AsyncWith)))
        contexts = [item.context_expr for block in blocks for item in block.items]
        return any(self.text_of(context).startswith(("torch.device(", "torch.cuda.device(")) for context in contexts)

    @cached_property
    def fed_to_training(self) -> frozenset[int]:
        """The calls whose results go into a model that is trained with them, or to a trainer."""
        given = [
            record.arguments
            for record in self.records
            if library.kind_of(record.name) == "trainer" or (record.name == "fit" and record.receiver is not None)
        ]
        return self._fed(is_trained=True).union(*(self.machine.flow_of(arguments) for arguments in given))

    @cached_property
    def fed_to_inference(self) -> frozenset[int]:
        """The calls whose results go into a model that nobody trains with them."""
        return self._fed(is_trained=False)

    def _fed(self, *, is_trained: bool) -> frozenset[int]:
        found: set[int] = set()
        for call in self.runs_of_models():
            if (call.record.id in self.machine.reached_gradient) is is_trained:
                found |= self.machine.flow_of(call.record.arguments)
        return frozenset(found)

    @cached_property
    def sets_default_dtype(self) -> bool:
        """Whether tensors may be made in another type than float32 although nobody says so."""
        wanted = library.DEFAULT_DEVICES | {"torch.set_default_dtype"}
        return any(record.name in wanted for record in self.records)

    def requires(self, distribution: str, specifier: str) -> Truth:
        """Whether every version that the project works with lies in `specifier`; UNKNOWN where nothing says."""
        requirement = self.world.version(distribution)
        if requirement is None:
            return answer(UNKNOWN)
        return answer(YES if requirement.is_within(specifier) else NO)

    # ------------------------------------------------------------ absence

    @cached_property
    def is_whole(self) -> bool:
        """Whether nothing of the file is hidden: no masked line, no star import, no spent budget."""
        return (
            self.source.executed_in_order
            and not self.source.masked
            and not self.machine.has_star_import
            and self.machine.is_complete
        )

    def never_calls(self, *names: str) -> Truth:
        """YES if no call of these names is made and nothing unknown could make one."""
        if any(record.name in names for record in self.records):
            return answer(NO)
        return answer(YES if self.is_whole else UNKNOWN)


_TOKENIZATIONS = frozenset({"()", "encode", "encode_plus", "batch_encode_plus", "apply_chat_template"})
_USES_OF_A_MODEL = frozenset(
    {"eval", "train", "parameters", "state_dict", "zero_grad", "named_parameters", "generate", "requires_grad_"}
)
_DEEPEST_ARGUMENT = 3
_OF_OTHER_MODELS = ("assistant_", "draft_", "teacher_", "reward_", "ref_")
"""What the names of arguments begin with that belong to another model than the one that is called or trained."""
_MODEL_POSITION = {"trainer": 0, "pipeline": 1, "engine": 0}
_TOKENIZER_POSITION = {"pipeline": 3, "engine": 1}
"""Where the constructors of trainers, pipelines and inference engines take the model, and a tokenizer's name."""
