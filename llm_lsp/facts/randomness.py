"""Which generators of random numbers a program draws from, and whether it seeds them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.call_index import CallIndex, in_order
from llm_lsp.facts.events import CallRecord, Frame
from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import NO, UNKNOWN, YES, Truth, answer
from llm_lsp.facts.values import Class, Constant, Object, Opaque, Symbol, Value, options
from llm_lsp.knowledge import draws, library
from llm_lsp.knowledge.kinds import kind_of

if TYPE_CHECKING:
    from llm_lsp.facts import Facts
    from llm_lsp.source import Source

__all__ = ["Generator", "generators"]

_SEEDING = {"Python": "random.seed", "NumPy": "numpy.random.seed", "torch": "torch.manual_seed"}
_READING = frozenset({
    "read", "load", "fetch", "collate", "iter", "parse", "tokenize", "encode", "decode", "preprocess", "batch", "batches", "rows", "row", "dataset",
    "datasets", "data", "reward", "rewards", "score", "scores", "metric", "metrics", "accuracy", "texts", "text", "examples", "samples", "pairs", "split",
    "loader", "loaders", "dataloader", "dataloaders", "clean", "normalize", "prompt", "prompts", "corpus", "lines", "loss", "evaluate", "plot", "save",
    "model", "models", "tokenizer", "optimizer", "scheduler", "criterion", "transform", "transforms", "mask", "log", "logger", "print", "write", "download",
    "checkpoint", "path", "paths", "file", "files", "embed", "embeddings", "open", "stream", "streams",
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
_SERVERS = frozenset({"fastapi", "flask", "starlette", "aiohttp", "gradio", "streamlit", "bentoml", "ray"})
_SPEAKS_OF_SEEDS = ("seed", "determin", "rng_state", "setstate", "exec(")
_MOST_MODULES = 20
_LOWEST_PORT, _HIGHEST_PORT = 1024, 65535
_TRAINS_OR_DRAWS = frozenset({"backward", "manual_backward", "torch.multinomial", "multinomial"})
_SHOWS_CHANCE = _TRAINS_OR_DRAWS | {"fit", "generate", "()"}
"""What runs are compared after, or may be."""
_DRAWS_IN_PLACE = frozenset({"normal_", "uniform_", "bernoulli_", "random_", "multinomial"})
_DRAWS = frozenset(
    {
        *draws.PYTHON_DRAWS,
        *draws.NUMPY_DRAWS,
        *draws.TORCH_DRAWS,
        *draws.DRAWS_UNLESS,
        *_DRAWS_IN_PLACE,
        *(method for _, method in draws.METHODS_THAT_DRAW),
        "torch.utils.data.DataLoader",
        "generate",
        "()",
    }
)


class Generator:
    """A generator that an entry point of the program draws from."""

    __slots__ = ("_facts", "_matters", "_record", "_seeded", "first_draw", "library", "made", "name")

    def __init__(
        self, facts: Facts, library: str, draw: CallRecord, seeded: Truth, matters: Truth, made: Place | None = None
    ) -> None:
        self._facts = facts
        self._record = draw
        self.library = library
        """"Python", "NumPy" or "torch"."""
        self.name = library
        self.first_draw = facts.place_here(draw.node) or facts.place(draw.node)
        self.made = made
        """Where the program makes it, if it is one of its own; None for the one that the library holds."""
        self._seeded = seeded
        self._matters = matters

    @property
    def is_seeded(self) -> Truth:
        """Whether the entry point seeds it, itself or by what it calls; UNKNOWN where a module that imports it may."""
        return answer(UNKNOWN if self._seeded is NO and self._is_imported else self._seeded)

    @property
    def _is_imported(self) -> bool:
        """Whether the entry point is a function that another module of the project names."""
        first = self._outermost
        return first is not None and bool(self._facts.world.importers(self._facts.source.path, {first.name}))

    @property
    def matters(self) -> Truth:
        """Whether the entry point trains or samples, so that runs are compared."""
        return answer(self._matters)

    @property
    def seeding(self) -> str:
        """The call that would seed it, as this module writes it."""
        return f"{self._facts.spelled(_SEEDING[self.library])}(0)"

    @property
    def unimported(self) -> str | None:
        """The module that has to be imported for `seeding`; None where it is."""
        root = self.seeding.partition(".")[0]
        return None if root in self._facts.machine.frames[0].locals else root

    @property
    def is_hidden(self) -> bool:
        """Whether the module gives its name of the library to something else in the end, so that `seeding` would fail."""
        value = self._facts.machine.frames[0].locals.get(self.seeding.partition(".")[0])
        return value is not None and not any(isinstance(option, Symbol) for option, _ in options(value))

    @property
    def entry(self) -> Place | None:
        """The statement before which the program begins to draw, under its `__main__` guard or in a function of its own.

        None if the module itself draws: then the place is after its imports.
        """
        first = self._outermost
        if first is not None:
            body = first.body[1:] if ast.get_docstring(first, clean=False) is not None else first.body
            return self._facts.place(body[0]) if body else None
        row = self._row
        for statement in self._facts.source.tree.body:
            if isinstance(statement, ast.If) and "__main__" in self._facts.text_of(statement.test):
                inside = statement.lineno <= row <= (statement.end_lineno or 0)
                return self._facts.place(statement.body[0]) if inside else None
        return None

    @property
    def _outermost(self) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that is the entry point, where it is not the module and no notebook runs its cells."""
        root = self._record.frame.root.function
        if root is None or self._facts.source.is_notebook or isinstance(root.node, ast.Lambda):
            return None
        return root.node

    @property
    def _row(self) -> int:
        """The row of the module's statement that leads to the first draw."""
        called = [frame.call for frame in self._record.frame.chain() if frame.call is not None]
        return getattr(called[-1] if called else self._record.node, "lineno", 0)

    @property
    def last_import(self) -> Place | None:
        """The last of the imports at the head of the module."""
        last: ast.stmt | None = None
        for statement in self._facts.source.tree.body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                last = statement
            elif last is not None:
                break
        return self._facts.place(last) if last is not None else None


def generators(facts: Facts) -> Iterator[Generator]:
    """The generators that the entry points draw from, in the order of their first draws."""
    if facts.is_test_module:
        return
    # Functions that nobody calls count in notebooks, and where they train: elsewhere running the script is enough.
    is_any = facts.source.is_notebook or "backward" in facts.source.snippets
    every = facts.index if is_any else CallIndex(facts.script_records)
    is_own_made = bool(every.named(draws.UNSEEDED_GENERATORS))
    drawing = in_order({*every.named_so(_may_draw), *every.with_objects})
    candidates = [record for record in drawing if _is_entry_point(facts, record.frame.root)]
    if not candidates and not is_own_made:
        return
    reached = CallIndex([record for record in every if _is_entry_point(facts, record.frame.root)])
    matters = YES if any(_trains_or_samples(facts, record) for record in reached.named(_SHOWS_CHANCE)) else NO
    if is_own_made:
        yield from _unseeded_generators(facts, reached, matters)
    idle = _without_consequence(facts, reached, candidates)
    trainers = reached.making("trainer")
    if trainers:
        # A trainer seeds everything when it is made: what its data was chosen by before that stays unseeded.
        reached = CallIndex([record for record in reached if record.id < trainers[0].id])
        candidates = [record for record in candidates if _chooses_data(facts, record, trainers[0])]
        matters = YES
    found: dict[str, CallRecord] = {}
    implicit: CallRecord | None = None
    for record in candidates:
        drawn = _drawn(facts, record) if record.id not in idle else None
        if drawn is not None:
            found.setdefault(drawn, record)
        elif implicit is None and _draws_implicitly(facts, record):
            implicit = record
    if implicit is not None and not trainers:
        found.setdefault("torch", implicit)
    for name, record in found.items():
        yield Generator(facts, name, record, _seeded(facts, name, reached), matters)


def _unseeded_generators(facts: Facts, reached: CallIndex, matters: Truth) -> Iterator[Generator]:
    """Generators of the program's own that were made without a seed and are drawn from."""
    seen: set[int] = set()
    for record in reached:
        receiver = record.receiver
        made = facts.machine.calls.get(receiver.call) if isinstance(receiver, Opaque) and receiver.call else None
        if made is None or made.id in seen or made.name not in draws.UNSEEDED_GENERATORS:
            continue
        seen.add(made.id)
        given = made.arguments.values()
        if all(isinstance(value, Constant) and value.value is None and not value.may for value in given):
            is_seeded = YES if record.name == "seed" else NO if facts.is_whole else UNKNOWN
            name = draws.UNSEEDED_GENERATORS[made.name]
            yield Generator(facts, name, record, is_seeded, matters, facts.place(made.node))


def _chooses_data(facts: Facts, record: CallRecord, trainer: CallRecord) -> bool:
    """Whether a draw, of Python's or NumPy's generator by its own name, decides what the trainer is given."""
    if record.id >= trainer.id or record.name not in draws.PYTHON_DRAWS | draws.NUMPY_DRAWS:
        return False
    is_in_place = record.name.endswith(".shuffle")
    drawn = facts.machine.flow_of(record.arguments) if is_in_place else frozenset((record.id,))
    return bool(drawn & trainer.flow)


def _is_entry_point(facts: Facts, root: Frame) -> bool:
    """Whether it is the module itself, or a function that stands for one."""
    if root.id == 0 or root not in facts.training_roots:
        return root.id == 0
    decorators = root.function.decorators if root.function is not None else ()
    return not any(_is_route(decorator) or _may_seed_before(decorator) for decorator in decorators)


def _is_route(decorator: Value) -> bool:
    """Whether the function answers the requests of a server, `@app.post("/generate")`."""
    return isinstance(decorator, Opaque) and (decorator.cls or "").partition(".")[0] in _SERVERS


def _may_seed_before(decorator: Value) -> bool:
    """Whether nobody knows what runs before the function: the callback of its group of commands, an experiment's set-up."""
    return isinstance(decorator, Object) or (isinstance(decorator, Opaque) and decorator.cls is None)


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


def _without_consequence(facts: Facts, reached: CallIndex, candidates: Iterable[CallRecord]) -> frozenset[int]:
    """Draws that decide nothing that runs are compared by: how long to wait, a port, a name, an answer to a person."""
    is_asked = bool(
        reached.named_so(lambda name: name == "builtins.input" or name.startswith(("streamlit.", "gradio.")))
    )
    is_cuda_seeded = bool(reached.named(("torch.cuda.manual_seed", "torch.cuda.manual_seed_all")))
    waiting = reached.named_so(lambda name: name.rpartition(".")[2] == "sleep")
    idle = [
        record.id
        for record in candidates
        if _is_port(record)
        or any(isinstance(given, Symbol) and given.name.startswith("string.") for given in record.arguments.values())
        or (is_asked and _is_sampling(facts, record))
        or (is_cuda_seeded and "device" in record.arguments.keywords)
    ]
    return frozenset(idle).union(*(facts.machine.flow_of(record.arguments) for record in waiting))


def _is_port(record: CallRecord) -> bool:
    bounds = [value.value for value in record.arguments.positional if isinstance(value, Constant)]
    numbers = [bound for bound in bounds if isinstance(bound, int)]
    is_range = record.name in {"random.randint", "random.randrange"} and len(numbers) == 2
    return is_range and _LOWEST_PORT <= numbers[0] <= numbers[1] <= _HIGHEST_PORT


def _is_sampling(facts: Facts, record: CallRecord) -> bool:
    """Whether a model generates by sampling."""
    receiver = record.receiver
    is_pipeline = record.name == "()" and isinstance(receiver, Object) and facts.machine.kind(receiver) == "pipeline"
    if record.name != "generate" and not is_pipeline:
        return False
    given = [record.arguments]
    config = record.arguments.get("generation_config")
    made = facts.machine.calls.get(config.call) if isinstance(config, Object) and config.call is not None else None
    if made is not None:
        given.append(made.arguments)
    wanted = [arguments.get("do_sample") for arguments in given]
    return any(isinstance(value, Constant) and value.value is True for value in wanted)


def _is_of_seedless_module(facts: Facts, name: str) -> bool:
    """Whether a function lies in a module of the project that, with all it imports from there, never speaks of seeds."""
    pending = [(name.rpartition(".")[0] or _imported_from(facts.source.tree, name), facts.source.path)]
    seen: set[str] = set()
    while pending:
        module, importer = pending.pop()
        source = facts.world.module(module, importer) if module.strip(".") else None
        if source is None or source.path in seen:
            continue
        seen.add(source.path)
        if len(seen) > _MOST_MODULES or source.masked or any(word in source.text for word in _SPEAKS_OF_SEEDS):
            return False
        pending += [(imported, source.path) for imported in _imported(source)]
    return bool(seen)


def _imported_from(tree: ast.Module, name: str) -> str:
    """The module from which the name is imported, as it is written; empty if it is not."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return "." * node.level + (node.module or "")
    return ""


def _imported(source: Source) -> Iterator[str]:
    """The modules that a module imports, as far as they may be the project's own."""
    for node in source.statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] not in library.LIBRARY_ROOTS)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            if node.level or module.partition(".")[0] not in library.LIBRARY_ROOTS:
                yield module
                yield from (
                    f"{module}.{alias.name}" if node.module else f"{module}{alias.name}" for alias in node.names
                )


def _trains_or_samples(facts: Facts, record: CallRecord) -> bool:
    if record.name in _TRAINS_OR_DRAWS:
        return True
    if record.name == "fit" and isinstance(record.receiver, Opaque):
        return (record.receiver.cls or "").startswith(("lightning.", "pytorch_lightning."))
    return _is_sampling(facts, record)


def _may_draw(name: str) -> bool:
    """Whether a function or method of this name may draw; those apart that return an object."""
    is_known = name in _DRAWS or name in draws.LOADERS_THAT_DRAW or name in draws.WITH_FRESH_WEIGHTS
    return is_known or name.startswith("torch.nn.init.") or name.endswith((".from_config", ".from_pretrained"))


def _drawn(facts: Facts, record: CallRecord) -> str | None:
    """The generator that a call draws from by itself."""
    name = record.name
    if "generator" in record.arguments.keywords or "rng" in record.arguments.keywords:
        return None
    if name in draws.PYTHON_DRAWS:
        return "Python"
    if name in draws.NUMPY_DRAWS or _draws_unless_seeded(facts, record):
        return "NumPy"
    if name in draws.TORCH_DRAWS or name.startswith("torch.nn.init.") or name in _DRAWS_IN_PLACE:
        return None if name in {"torch.nn.init.zeros_", "torch.nn.init.ones_", "torch.nn.init.constant_"} else "torch"
    return "torch" if _is_sampling(facts, record) else None


def _draws_unless_seeded(facts: Facts, record: CallRecord) -> bool:
    """Whether a shuffle or split of scikit-learn, datasets or pandas draws, since it is given no seed of its own."""
    keywords, receiver = record.arguments.keywords, record.receiver
    if not record.arguments.is_complete or keywords.keys() & {"seed", "generator"}:
        return False
    if receiver is None:
        return draws.DRAWS_UNLESS.get(record.name) not in {None, *keywords}
    root = facts.machine.library_of(receiver)
    wanted = draws.METHODS_THAT_DRAW.get((root, record.name)) if root is not None else None
    return wanted is not None and wanted not in keywords


def _draws_implicitly(facts: Facts, record: CallRecord) -> bool:
    """Fresh weights, and loaders that shuffle."""
    if record.name == "torch.utils.data.DataLoader":
        shuffle = record.arguments.get("shuffle", 2)
        return isinstance(shuffle, Constant) and shuffle.value is True and "generator" not in record.arguments.keywords
    if record.name in draws.LOADERS_THAT_DRAW:
        return "generator" not in record.arguments.keywords
    if kind_of(record.name) == "model" and isinstance(record.result, Object):
        return True
    if record.name in draws.WITH_FRESH_WEIGHTS or record.name.endswith(".from_config"):
        return True
    if record.name.endswith(".from_pretrained") and "num_labels" in record.arguments.keywords:
        return kind_of(record.name.rpartition(".")[0]) == "model"
    made = record.result
    cls = made.cls if isinstance(made, Object) else None
    is_module = isinstance(cls, Class) and facts.machine.kind_of_class(cls) == "model"
    return isinstance(cls, Class) and is_module and _has_fresh_weights(facts, record, cls)


def _has_fresh_weights(facts: Facts, record: CallRecord, cls: Class) -> bool:
    """Whether a module of the program is more than pretrained models put together."""
    bases = cls.library_bases()
    if cls.has_unknown_base() or not {*bases} <= library.MODULE_BASES | library.LIGHTNING_BASES:
        return True
    inside = [
        other
        for other in facts.machine.calls.values()
        if other is not record and any(frame.call is record.node for frame in other.frame.chain())
    ]
    return any(not other.is_resolved or _drawn(facts, other) or _draws_implicitly(facts, other) for other in inside)


def _may_seed(record: CallRecord) -> bool:
    """Whether what is called is not seen, and is not known by its name to do something else."""
    made = record.result
    if isinstance(made, Object) and isinstance(made.cls, Class):
        roots = {base.partition(".")[0] for base in made.cls.library_bases()}
        return made.call == record.id and not roots <= library.LIBRARY_ROOTS
    if record.is_resolved or record.name == "()":
        return False
    is_method = record.receiver is not None and not isinstance(record.receiver, Class)
    is_reader = is_method or _only_reads(record.name.removesuffix("()"))
    return not is_reader or "seed" in record.name or "determin" in record.name


def _seeded(facts: Facts, name: str, reached: CallIndex) -> Truth:
    if reached.named_so(lambda called: name in draws.SEEDS.get(called, ())):
        return YES
    if any(_may_seed(record) and not _is_of_seedless_module(facts, record.name) for record in reached):
        return UNKNOWN
    if reached.named_so(lambda called: "seed" in called.rpartition(".")[2] and called not in draws.SEEDS):
        return UNKNOWN
    return NO if facts.is_whole else UNKNOWN
