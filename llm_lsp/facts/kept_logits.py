"""Evaluations of a trainer that keep the scores of a whole vocabulary for every token, although the best are enough."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.ignored_labels import PREDICTIONS, Origins, function_of
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Constant, Function, Object, Opaque, Value, options
from llm_lsp.facts.views import Call

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.facts.events import CallRecord
    from llm_lsp.facts.place import Place

__all__ = ["KeptLogits", "kept_logits"]

_TRAINERS = ("transformers.Trainer", "transformers.Seq2SeqTrainer", "trl.SFTTrainer")
_OF_A_VOCABULARY = ("ForCausalLM", "ForMaskedLM", "LMHeadModel", "ForSeq2SeqLM", "ForConditionalGeneration")
"""Ends of the names of classes whose models score every token of the vocabulary."""
_LOADS = frozenset({"from_pretrained", "from_config"})
_KEEP_LESS = (
    "prediction_loss_only",
    "predict_with_generate",
    "batch_eval_metrics",
    "eval_accumulation_steps",
)
"""Arguments of a trainer with which the scores are not kept, or are kept elsewhere on purpose."""
_TAKES_BEST = frozenset({"argmax", "numpy.argmax", "torch.argmax"})
_ONLY_MEASURES = frozenset({"builtins.len", "builtins.isinstance", "builtins.print", "builtins.type", "numpy.shape"})
_CUTS = ("select", "take", "shard")
_TAKES_FEW = ("select(", "[:", ".take(", "shard(")
"""How a set is written that is cut on purpose."""


class KeptLogits:
    """A trainer that is given a function for metrics, and none that makes the scores smaller before."""

    __slots__ = ("_facts", "_function", "call")

    def __init__(self, facts: Facts, record: CallRecord, function: Function) -> None:
        self._facts = facts
        self._function = function
        self.call = Call(facts, record)

    @property
    def place(self) -> Place:
        """Where the function for metrics is passed."""
        found = self.call.places_of_argument("compute_metrics", None)[0]
        return found if found is not None else self.call.place

    @property
    def function_name(self) -> str:
        return self._function.name

    @property
    def are_of_a_vocabulary(self) -> Truth:
        """Whether the model scores every token of its vocabulary, as the class says that loads it."""
        model = self.call.record.arguments.get("model", 0)
        made = self._facts.machine.calls.get(model.call or 0) if isinstance(model, Object) else None
        cls, _, method = made.name.rpartition(".") if made is not None else ("", "", "")
        return answer(YES if method in _LOADS and cls.endswith(_OF_A_VOCABULARY) else UNKNOWN)

    @property
    def are_kept(self) -> Truth:
        """Whether the trainer keeps them: NO where its arguments, or a smaller set, say otherwise."""
        asked = self.call.record.arguments
        settings = asked.get("args", 1)
        made = self._facts.machine.calls.get(settings.call or 0) if isinstance(settings, Object) else None
        is_seen = made is not None and made.arguments.is_complete and asked.is_complete
        if not is_seen or made is None:
            return answer(UNKNOWN)
        if _may_be_set(asked.get("preprocess_logits_for_metrics")) or any(
            _may_be_set(made.arguments.get(name)) for name in _KEEP_LESS
        ):
            return answer(NO)
        return answer(UNKNOWN if self._is_cut() or not self._facts.is_whole else YES)

    @property
    def only_best_are_used(self) -> Truth:
        """Whether the function takes nothing of the scores but which is the highest."""
        uses = self._uses()
        are_best = all(record.name in _TAKES_BEST and not self._is_read_elsewhere(record) for record in uses)
        return answer(YES if uses and are_best else UNKNOWN)

    @property
    def best(self) -> tuple[Place, Place] | None:
        """Where the best are taken, and of what, if that is one place of this module in a function of one trainer."""
        uses, given = self._uses(), [one.function_name for one in kept_logits(self._facts)]
        if len(uses) != 1 or given.count(self.function_name) != 1:
            return None
        scores, place = _scores_in(uses[0]), self._facts.place(uses[0].node)
        return (place, self._facts.place(scores)) if scores is not None and place.path == self.place.path else None

    def _is_cut(self) -> bool:
        """Whether a few rows are taken of what is evaluated: where it is passed, or wherever else it was made."""
        _, evaluated = self.call.places_of_argument("eval_dataset", None)
        written = evaluated.text if evaluated is not None else ""
        value, calls = self.call.record.arguments.get("eval_dataset"), self._facts.machine.calls
        ways, seen = [written], set[int]()
        pending = [value] if value is not None else []
        while pending:
            for option, _ in options(pending.pop()):
                made = calls.get(option.call or 0) if isinstance(option, Object | Opaque) else None
                if made is not None and made.id not in seen:
                    seen.add(made.id)
                    ways.append(self._facts.text_of(made.node))
                    pending += [*([made.receiver] if made.receiver is not None else []), *made.arguments.values()]
        # `data["test"] = data["test"].select(...)`: what a dictionary holds is not followed.
        cuts = [self._facts.text_of(record.node) for record in self._facts.index.named(_CUTS)]
        ways += [cut for cut in cuts if written and cut.startswith(f"{written}.")]
        return any(word in way for word in _TAKES_FEW for way in ways)

    def _is_read_elsewhere(self, best: CallRecord) -> bool:
        """Whether the function reads what the best are taken of in another place, before it has the best in its stead."""
        scores = _scores_in(best)
        if scores is None:
            return True
        written = ast.dump(scores)
        nodes = list(ast.walk(self._function.node))
        stored = [node for node in nodes if isinstance(node, ast.Assign) and _stores(node, written)]
        replaced = any(best.node in ast.walk(node.value) for node in stored)
        harmless = [node for node in nodes if _only_measures(node)] + [node for node in stored if _picks(node.value)]
        passed_over = {scores, *(part for node in harmless for part in ast.walk(node))}
        reads = [node for node in nodes if isinstance(node, ast.expr) and ast.dump(node) == written]
        return any(node not in passed_over and not (replaced and node.lineno > scores.lineno) for node in reads)

    def _uses(self) -> list[CallRecord]:
        """The calls that are given the scores."""
        origins = Origins(self._facts)
        found: list[CallRecord] = []
        for record in self._facts.records:
            if not _is_of(record, self._function) or record.name in _ONLY_MEASURES:
                continue
            values = [*record.arguments.values(), *([record.receiver] if record.receiver is not None else [])]
            known = [origins.of(option, record) for value in values for option, _ in options(value)]
            if any(origin is not None and origin.kind == PREDICTIONS for origin in known):
                found.append(record)
        return found


def kept_logits(facts: Facts) -> Iterator[KeptLogits]:
    """The trainers that are given a function of the program for metrics, in order."""
    for record in facts.index.named(_TRAINERS):
        function = function_of(record.arguments.get("compute_metrics"))
        if function is not None:
            yield KeptLogits(facts, record, function)


def _scores_in(best: CallRecord) -> ast.expr | None:
    """What an argmax is taken of, as it is written."""
    node = best.node
    if not isinstance(node, ast.Call):
        return None
    if best.receiver is not None:
        return node.func.value if isinstance(node.func, ast.Attribute) else None
    return node.args[0] if node.args else None


def _only_measures(node: ast.AST) -> bool:
    """Whether it asks how large something is, or of which type."""
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    return name in {"isinstance", "len", "type"} or (isinstance(node, ast.Attribute) and node.attr in {"shape", "ndim"})


def _stores(node: ast.Assign, written: str) -> bool:
    """Whether it is assigned to the variable that is read so."""
    return any(ast.dump(target).replace("Store()", "Load()") == written for target in node.targets)


def _picks(value: ast.expr) -> bool:
    """Whether a part of something is taken, `x[0]`, perhaps only where it is a tuple."""
    calls = (node for node in ast.walk(value) if isinstance(node, ast.Call))
    return any(isinstance(node, ast.Subscript) for node in ast.walk(value)) and all(map(_only_measures, calls))


def _is_of(record: CallRecord, function: Function) -> bool:
    """Whether the function, called by nobody in the program, makes the call."""
    root = record.frame.root.function
    return root is not None and root.node is function.node


def _may_be_set(value: Value | None) -> bool:
    """Whether an argument is passed, and is none that leaves everything as it is."""
    return value is not None and not (isinstance(value, Constant) and not value.value)
