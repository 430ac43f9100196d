"""LLM302 and LLM303: what keeps half precision off the CPU, off float32 inputs and off training is taken away.

Two kinds of changes are no faults, and not made. A model that loses its way to the GPU while its inputs still go there
raises, whatever its type is: so all moves go at once, and none where a device is named in another way. And pixels that
are no longer cast matter only to models that do not cast them themselves, as those of ViT, CLIP and SigLIP do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from llm_lsp.knowledge import checkpoints, library
from scripts.mutation.edits import Function, Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loads import Load, loads_of
from scripts.mutation.loops import Loop, loops_of

AUTOCAST, ON_CPU = "LLM302", "LLM303"

_GPU = re.compile(r"cuda|gpu|device", re.IGNORECASE)
_HALF = frozenset({"float16", "half"})
_MODEL = re.compile(r"(?:^|_)(?:model|net|pipe|encoder|lm)$", re.IGNORECASE)
_INPUT = re.compile(r"^(?!.*model).*(?:batch|inputs|features|pixel|values|images|samples)", re.IGNORECASE)
_PIXELS = re.compile(r"\bimages?=")
_GUARDED = re.compile(
    r"autocast|[sS]caler|ccelerat|dtype|float16|half|peft|requires_grad|abric|deepspeed|ightning|Trainer|[48]bit"
)
"""Words of programs whose weights have a precision already, whose training a library guards, or not all of them learn."""
_PLACED = re.compile(
    r"cuda|gpu|device|ccelerat|mps|xpu|float16|half|dtype|pipeline|quantiz|[48]bit|Trainer|lightning", re.IGNORECASE
)
"""Words of programs that say where a model runs, or in which precision, or let a library choose."""
_OPTIMIZES = re.compile(r"\b(?:Adam\w*|SGD|RMSprop|Adagrad|Adafactor|Lion)\(")
_BY_LIBRARY = frozenset({"auto", "balanced", "sequential"})


def mutants_on_cpu(program: Program) -> Iterator[Mutant]:
    """Every mutant in which half precision reaches the CPU."""
    if any(_is_half(node) for node in program.nodes):
        for node in program.nodes:
            if isinstance(node, ast.IfExp):
                yield from _unconditional(program, node)
            elif isinstance(node, ast.If):
                yield from _unguarded(program, node)
        yield from _left_on_cpu(program)
    elif not _PLACED.search(program.text) and ".backward(" not in program.text:
        for load in loads_of(program):
            yield from _halved_on_cpu(program, load)


def mutants_of_dtype(program: Program) -> Iterator[Mutant]:
    """Every mutant in which half weights meet float32 inputs, or are trained as they are."""
    for node in program.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "from_pretrained" and _trains(program, node):
            yield from _half_for_training(program, node)
        elif node.func.attr in {"to", "half"} and _INPUT.search(ast.unparse(node.func.value)):
            yield from _uncast(program, node, node.func.value)
    # An optimizer that comes in from outside may hold float32 copies of the weights.
    is_plain = _OPTIMIZES.search(program.text) and not _GUARDED.search(program.text)
    for loop in loops_of(program) if is_plain else ():
        yield from _halved_before_training(program, loop)
    if not _PLACED.search(program.text) and ".backward(" not in program.text:
        for load in loads_of(program):
            yield from _halved_before_features(program, load)


# ---------------------------------------------------------------- training, and inputs


def _trains(program: Program, load: ast.Call) -> bool:
    """Whether the function or class that loads a model also trains it, and all of it."""
    around = [each for each in program.ancestors(load) if isinstance(each, ast.ClassDef | Function)]
    text = ast.unparse(around[-1] if around else program.tree)
    return ".backward(" in text and "peft" not in program.text


def _half_for_training(program: Program, load: ast.Call) -> Iterator[Mutant]:
    """`dtype=torch.bfloat16` is `dtype=torch.float16`."""
    for keyword in load.keywords:
        if keyword.arg in {"dtype", "torch_dtype"} and last_name(keyword.value) == "bfloat16":
            half = program.text[slice(*program.span(keyword.value))].replace("bfloat16", "float16")
            yield from _one(program, AUTOCAST, "dtype", [program.blanked(keyword.value, half)], load)


def _halved_before_training(program: Program, loop: Loop) -> Iterator[Mutant]:
    """The model that a loop trains is loaded in float16; or is halved before the loop."""
    name = last_name(ast.parse(loop.model, mode="eval").body)
    loads = [node for node in program.nodes if _loads_model(node) and _target(program, node).endswith(name)]
    if len(loads) == 1 and isinstance(loads[0], ast.Call):
        half = program.with_argument(loads[0], "torch_dtype=torch.float16")
        yield from _one(program, AUTOCAST, "load", [half], loads[0])
    elif loop.before is not None and not loads and re.search(rf"\b{re.escape(loop.model)}\(", ast.unparse(loop.scope)):
        halved = program.followed(loop.before, f"{loop.model}.half()")
        yield from _one(program, AUTOCAST, "half", [halved], loop.before)


def _halved_before_features(program: Program, load: Load) -> Iterator[Mutant]:
    """A model that is given a processor's float32 features as they are is loaded in float16, on the GPU."""
    known = checkpoints.from_table(load.checkpoint)
    model_type = known.model_type.value if known is not None and known.model_type is not None else ""
    if model_type in library.CASTS_NO_FEATURES and _is_run(program, load):
        half = program.with_argument(load.call, 'torch_dtype="float16", device_map="cuda"')
        yield from _one(program, AUTOCAST, "features", [half], load.call)


def _uncast(program: Program, cast: ast.Call, value: ast.expr) -> Iterator[Mutant]:
    """`pixels.to("cuda", torch.float16)` is `pixels.to("cuda")`, `pixels.half()` is `pixels`."""
    end = program.span(cast)[1]
    if _PIXELS.search(program.source(value)):
        return
    if not cast.args and not cast.keywords and last_name(cast.func) == "half":
        yield from _one(program, AUTOCAST, "cast", [Replacement(program.span(value)[1], end, "")], cast)
    elif len(cast.args) == 2 and (_is_half(cast.args[1]) or last_name(cast.args[1]) == "dtype"):
        gone = Replacement(program.span(cast.args[0])[1], program.span(cast.args[1])[1], "")
        yield from _one(program, AUTOCAST, "cast", [gone], cast)


# ---------------------------------------------------------------- the CPU


def _unconditional(program: Program, choice: ast.IfExp) -> Iterator[Mutant]:
    """`torch.float16 if on_gpu else torch.float32` is `torch.float16`."""
    if _is_half(choice.body) and not _mentions_half(choice.orelse) and _GPU.search(ast.unparse(choice.test)):
        half = program.text[slice(*program.span(choice.body))]
        yield from _one(program, ON_CPU, "choice", [program.blanked(choice, half)], choice)


def _unguarded(program: Program, guard: ast.If) -> Iterator[Mutant]:
    """`if on_gpu: model.half()` is `model.half()`; not where the block moves the model to the GPU, too."""
    calls = [node for statement in guard.body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    called = any(
        isinstance(node.func, ast.Attribute)
        and node.func.attr in {"half", "to"}
        and _MODEL.search(dotted(node.func.value))
        and _mentions_half(node)
        for node in calls
    )
    if called and _GPU.search(ast.unparse(guard.test)) and not any(_moved(node) is not None for node in calls):
        yield from _one(program, ON_CPU, "guard", program.dedented(guard), guard)


def _left_on_cpu(program: Program) -> Iterator[Mutant]:
    """A model in half precision and all that it meets stay on the CPU: no `.to("cuda")`, no `device_map`."""
    moves = [node for node in program.nodes if _moved(node) is not None]
    maps = [node for node in program.nodes if isinstance(node, ast.keyword) and _maps_to_gpu(program, node)]
    models = [node for node in moves if isinstance(node, ast.Call) and _is_of_model(program, node)]
    models += [node for keyword in maps if isinstance(node := program.parents[keyword], ast.Call)]
    kept = {id(each) for move in moves for each in ast.walk(move)} | {id(keyword.value) for keyword in maps}
    devices = [node for node in program.nodes if isinstance(node, ast.Constant) and "cuda" in str(node.value)]
    if not models or any(id(each) not in kept for each in devices):
        return
    changes = [gone for node in moves if (gone := _unmoved(program, node)) is not None]
    changes += [program.blanked(keyword.value, "None") for keyword in maps]
    first = min(models, key=lambda node: node.lineno)
    yield from _one(program, ON_CPU, "move", changes, first)


def _halved_on_cpu(program: Program, load: Load) -> Iterator[Mutant]:
    """A model that is run where it was loaded, on the CPU, is loaded in float16; not in scripts that hide nothing."""
    has_functions = any(isinstance(node, Function) for node in program.nodes)
    if has_functions and _is_run(program, load):
        half = program.with_argument(load.call, 'torch_dtype="float16"')
        yield from _one(program, ON_CPU, "load", [half], load.call)


def _maps_to_gpu(program: Program, keyword: ast.keyword) -> bool:
    """Whether the load of a half model says where the model goes."""
    load, where = program.parents[keyword], keyword.value
    is_gpu = isinstance(where, ast.Constant) and (where.value in _BY_LIBRARY or str(where.value).startswith("cuda"))
    is_half = _loads_model(load) and _mentions_half(load) and "quantiz" not in ast.unparse(load)
    return keyword.arg == "device_map" and is_gpu and is_half


def _moved(node: ast.AST) -> ast.expr | None:
    """What a call moves to the GPU."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return node.func.value if _moves_to_gpu(node.func.attr, node.args) else None


def _moves_to_gpu(method: str, arguments: Sequence[ast.expr]) -> bool:
    if method == "cuda":
        return not arguments
    first = arguments[0] if method == "to" and arguments else None
    return isinstance(first, ast.Constant) and str(first.value).startswith("cuda")


def _unmoved(program: Program, node: ast.AST) -> Replacement | None:
    """`x.to("cuda")` is `x`; a type that stands beside the device stays."""
    value = _moved(node)
    if value is None or not isinstance(node, ast.Call):
        return None
    if len(node.args) > 1:
        return Replacement(program.span(node.args[0])[0], program.span(node.args[1])[0], "")
    return Replacement(program.span(value)[1], program.span(node)[1], "")


def _is_of_model(program: Program, call: ast.Call) -> bool:
    """Whether a call moves a model that is, or becomes, half."""
    value = _moved(call)
    is_model = value is not None and (_mentions_half(value) or bool(_MODEL.search(dotted(value))))
    return is_model and _mentions_half(program.function_of(call) or program.tree)


# ---------------------------------------------------------------- models


def _loads_model(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and last_name(node.func) == "from_pretrained" and "Model" in dotted(node.func)


def _target(program: Program, node: ast.AST) -> str:
    """The name that what is loaded is bound to, whatever is done with it on the way."""
    statement = program.statement_of(node)
    return dotted(statement.targets[0]) if isinstance(statement, ast.Assign) else ""


def _is_run(program: Program, load: Load) -> bool:
    """Whether the program runs the model that it loads, by its name."""
    name = _target(program, load.call)
    runs = rf"\b{re.escape(name)}(?:\.generate)?\("
    return not load.is_tokenizer and bool(name) and re.search(runs, program.text) is not None


def _is_half(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in _HALF
    return isinstance(node, ast.Constant) and node.value in {"float16", "fp16"}


def _mentions_half(node: ast.AST) -> bool:
    return any(_is_half(each) for each in ast.walk(node))


def _one(
    program: Program, code: str, kind: str, replacements: list[Replacement], node: ast.expr | ast.stmt
) -> Iterator[Mutant]:
    # Where a type is chosen, and where it is loaded and run, may lie far apart.
    yield from mutants_of(program, code, kind, replacements, node, anywhere=True)
