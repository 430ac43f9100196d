"""Which generators of random numbers a program draws from, and whether it seeds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.events import CallRecord
from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Opaque
from llm_lsp.knowledge import library

if TYPE_CHECKING:
    from llm_lsp.facts import Facts

__all__ = ["Generator", "generators"]

_SEEDING = {"Python": "random.seed", "NumPy": "numpy.random.seed", "torch": "torch.manual_seed"}
_READING = frozenset({
    "read", "load", "fetch", "collate", "iter", "parse", "tokenize", "encode", "decode", "preprocess", "batch", "batches", "rows", "row", "dataset",
    "datasets", "data", "reward", "rewards", "score", "scores", "metric", "metrics", "accuracy", "texts", "text", "examples", "samples", "pairs", "split",
    "loader", "loaders", "dataloader", "dataloaders", "clean", "normalize", "prompt", "prompts", "corpus", "lines", "loss", "evaluate", "plot", "save",
})  # fmt: skip
_PREPARING = frozenset(
    {
        "config",
        "configuration",
        "settings",
        "args",
        "arguments",
        "env",
        "environment",
        "setup",
        "init",
        "initialize",
        "experiment",
    }
)
_OPTIMIZERS = frozenset({"backward", "manual_backward"})


class Generator:
    """A generator that an entry point of the program draws from."""

    __slots__ = ("_facts", "_matters", "_seeded", "first_draw", "library", "name")

    def __init__(self, facts: Facts, library: str, first_draw: Place, seeded: Truth, matters: Truth) -> None:
        self._facts = facts
        self.library = library
        """"Python", "NumPy" or "torch"."""
        self.name = library
        self.first_draw = first_draw
        self._seeded = seeded
        self._matters = matters

    @property
    def is_seeded(self) -> Truth:
        """Whether the entry point seeds it, itself or through what it calls."""
        return answer(self._seeded)

    @property
    def matters(self) -> Truth:
        """Whether the entry point trains or samples, so that runs are compared."""
        return answer(self._matters)

    @property
    def seeding(self) -> str:
        """The call that would seed it, as this module writes it."""
        return f"{self._facts.spelled(_SEEDING[self.library])}(0)"

    @property
    def entry(self) -> Place | None:
        """The first statement under the `__main__` guard; None without one."""
        for statement in self._facts.source.tree.body:
            if isinstance(statement, ast.If) and "__main__" in self._facts.text_of(statement.test):
                return self._facts.place(statement.body[0])
        return None

    @property
    def last_import(self) -> Place | None:
        """The last of the imports at the head of the module, if the generator's library is imported there."""
        last: ast.stmt | None = None
        for statement in self._facts.source.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                last = statement
            elif last is not None:
                break
        bound = self._facts.spelled(_SEEDING[self.library]).partition(".")[0] in self._facts.machine.frames[0].locals
        return self._facts.place(last) if last is not None and bound else None


def generators(facts: Facts) -> Iterator[Generator]:
    """The generators that the entry points draw from, in the order of their first draws."""
    if facts.is_test_module:
        return
    reached = [record for record in facts.records if _is_reached(facts, record)]
    if not reached:
        return
    matters = YES if any(_trains_or_samples(record) for record in reached) else NO
    draws: dict[str, CallRecord] = {}
    implicit: CallRecord | None = None
    for record in reached:
        drawn = _drawn(record)
        if drawn is not None:
            draws.setdefault(drawn, record)
        elif implicit is None and _draws_implicitly(facts, record):
            implicit = record
    if implicit is not None:
        draws.setdefault("torch", implicit)
    for name, record in draws.items():
        yield Generator(facts, name, facts.place(record.node), _seeded(facts, name, reached), matters)


def _is_reached(facts: Facts, record: CallRecord) -> bool:
    """Whether an entry point leads to the call: the module itself, or a function that stands for one."""
    root = record.frame.chain()[-1]
    if root.id == 0:
        return True
    return facts.source.is_notebook or root.id in facts.training_roots


def _only_reads(name: str) -> bool:
    """Whether an unknown function, by its name, fetches or shapes data, or makes an object of a class.

    Such functions may draw; that they seed a generator for the whole program would be a surprise to everybody.
    """
    last = name.rpartition(".")[2]
    if last[:1].isupper():
        return not last.endswith(
            ("Trainer", "Runner", "Experiment", "Engine", "App", "Config", "Context", "Environment", "Env", "Setup")
        )
    words = last.lower().split("_")
    return bool(_READING & set(words)) and not _PREPARING & set(words)


def _trains_or_samples(record: CallRecord) -> bool:
    if record.name in _OPTIMIZERS or record.name == "torch.multinomial":
        return True
    if record.name == "fit" and isinstance(record.receiver, Opaque):
        return (record.receiver.cls or "").startswith(("lightning.", "pytorch_lightning."))
    sampling = record.arguments.get("do_sample")
    return record.name == "generate" and isinstance(sampling, Constant) and sampling.value is True


def _drawn(record: CallRecord) -> str | None:
    """The generator that a call draws from by itself."""
    name = record.name
    if "generator" in record.arguments.keywords or "rng" in record.arguments.keywords:
        return None
    if name in library.PYTHON_DRAWS:
        return "Python"
    if name in library.NUMPY_DRAWS:
        return "NumPy"
    if (
        name in library.TORCH_DRAWS
        or name.startswith("torch.nn.init.")
        or name in {"normal_", "uniform_", "bernoulli_", "random_"}
    ):
        return None if name in {"torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.constant_"} else "torch"
    sampling = record.arguments.get("do_sample")
    return "torch" if name == "generate" and isinstance(sampling, Constant) and sampling.value is True else None


def _draws_implicitly(facts: Facts, record: CallRecord) -> bool:
    """Fresh weights, and loaders that shuffle."""
    if record.name == "torch.utils.data.DataLoader":
        shuffle = record.arguments.get("shuffle", 2)
        return isinstance(shuffle, Constant) and shuffle.value is True and "generator" not in record.arguments.keywords
    if record.name in library.WITH_FRESH_WEIGHTS or record.name.endswith(".from_config"):
        return True
    if record.name.endswith(".from_pretrained") and "num_labels" in record.arguments.keywords:
        return library.kind_of(record.name.rpartition(".")[0]) == "model"
    made = record.result
    return isinstance(made, Object) and isinstance(made.cls, Class) and facts.machine.kind_of_class(made.cls) == "model"


def _seeded(facts: Facts, name: str, reached: list[CallRecord]) -> Truth:
    for record in reached:
        if name in library.SEEDS.get(record.name, ()) or library.kind_of(record.name) == "trainer":
            return YES
    for record in reached:
        if record.is_resolved or record.name == "()":
            continue
        is_method = record.receiver is not None and not isinstance(record.receiver, Class)
        if (not is_method and not _only_reads(record.name)) or "seed" in record.name or "determin" in record.name:
            return UNKNOWN
    if any("seed" in record.name.rpartition(".")[2] and record.name not in library.SEEDS for record in reached):
        return UNKNOWN
    return NO if facts.is_whole else UNKNOWN
