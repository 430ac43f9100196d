"""LLM304, LLM305, LLM308, LLM405, LLM601: one thing that a training loop needs is taken away, or spoilt."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Function, Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loops import loops_of

HALF_WEIGHTS, CLIPPED, GRAPH_KEPT, MODE_KEPT, EPOCH = "LLM304", "LLM305", "LLM308", "LLM405", "LLM601"

_LEAVES_GRAPH = frozenset({"item", "detach"})
_KEEPS_GRAPH = frozenset({"float", "cpu", "mean", "sum"})
_TERM = re.compile(r"loss|kl|reward|penalty|nll|ppl", re.IGNORECASE)
_SCALED_OTHERWISE = ("scaler", "Scaler", "ccelerat", "bfloat16", "peft", "abric", "deepspeed")
_EPOCHS = re.compile(r"epoch", re.IGNORECASE)
_LAYERS = re.compile(r"\bnn\.(?:Sequential|Linear|Bilinear|Conv\dd|Embedding)\(")
_ASKS_FOR_MODE = re.compile(r"[Dd]rop|Norm|from_pretrained|Transformer|Attention|LSTM|GRU|timm|torchvision")
_LIBRARY_LOOPS = ("Accelerator(", "Trainer(", "lightning", "Fabric(", ".prepare(")


def mutants_with_half_weights(program: Program) -> Iterator[Mutant]:
    """The weights that a loss scaler trains are loaded in float16."""
    yield from _retrofitted(program)
    if "GradScaler" not in program.text and not re.search(r"\bfp16=True", program.text):
        return
    for node in program.nodes:
        if isinstance(node, ast.Call) and last_name(node.func) == "from_pretrained" and "Model" in dotted(node.func):
            if (
                "dtype" in program.source(node)
                or "torch" not in program.text
                or any(k.arg is None for k in node.keywords)
            ):
                continue
            half = program.with_argument(node, "torch_dtype=torch.float16")
            yield from mutants_of(program, HALF_WEIGHTS, "dtype", [half], node, anywhere=True)


def _retrofitted(program: Program) -> Iterator[Mutant]:
    """A loop gets a loss scaler, and the one model that the program loads float16 weights."""
    loads = [
        node
        for node in program.nodes
        if isinstance(node, ast.Call) and last_name(node.func) == "from_pretrained" and "Model" in dotted(node.func)
    ]
    if len(loads) != 1 or any(word in program.text for word in (*_SCALED_OTHERWISE, "dtype", "requires_grad")):
        return
    for loop in loops_of(program):
        half = program.with_argument(loads[0], "torch_dtype=torch.float16")
        changes = [*loop.with_scaler(program), half]
        yield from mutants_of(program, HALF_WEIGHTS, "scaler", changes, loads[0], anywhere=True)


def mutants_clipped_while_scaled(program: Program) -> Iterator[Mutant]:
    """`unscale_` goes; or gradients that are scaled get clipped; or a loop that clips gets a loss scaler."""
    for loop in loops_of(program) if not any(word in program.text for word in _SCALED_OTHERWISE) else ():
        is_clipped = "clip_grad" in ast.unparse(loop.scope)
        clip = "" if is_clipped else f"; torch.nn.utils.clip_grad_norm_({loop.model}.parameters(), 1.0)"
        yield from mutants_of(program, CLIPPED, "scaler", loop.with_scaler(program, clip), loop.backward, anywhere=True)
    for node in program.nodes:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        function = program.function_of(node) or program.tree
        text = ast.unparse(function)
        if last_name(node.value.func) == "unscale_" and "clip_grad" in text:
            yield from mutants_of(program, CLIPPED, "unscale", [program.blanked(node, "pass")], node, anywhere=True)
        elif _is_scaled_backward(node.value) and "clip_grad" not in text and "unscale_" not in text:
            model = re.search(r"\b(\w*model\w*|\w*net)\(", text)
            if model is not None and ".step(" in text:
                change = program.followed(node, f"torch.nn.utils.clip_grad_norm_({model[1]}.parameters(), 1.0)")
                yield from mutants_of(program, CLIPPED, "clip", [change], node, anywhere=True)


def mutants_with_kept_graph(program: Program) -> Iterator[Mutant]:
    """`total += loss.item()` is `total += loss`; or a loop that sums nothing sums its losses."""
    for loop in loops_of(program):
        if loop.before is None or not loop.loss.isidentifier():
            continue
        begun = program.followed(loop.before, "running = 0.0")
        summed = program.followed(loop.step, f"running += {loop.loss}")
        yield from mutants_of(program, GRAPH_KEPT, "loop", [begun, summed], loop.step, anywhere=True)
    for node in program.nodes:
        if (
            not isinstance(node, ast.AugAssign)
            or not isinstance(node.op, ast.Add)
            or not _is_in_training(program, node)
        ):
            continue
        bare = _with_graph(node.value)
        if bare is not None and _TERM.search(ast.unparse(bare)):
            change = program.blanked(node.value, _without_calls(program, node.value))
            yield from mutants_of(program, GRAPH_KEPT, "sum", [change], node)


def mutants_with_kept_mode(program: Program) -> Iterator[Mutant]:
    """`train()` goes, in a program that evaluates after each epoch; or an epoch, or a step, ends in evaluation mode.

    Not where all layers are written in the program and none of them asks for the mode, nor where another `train()` of
    the same function puts the model back.
    """
    if _LAYERS.search(program.text) and not _ASKS_FOR_MODE.search(program.text):
        return
    for node in program.nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and last_name(node.value.func) == "train":
            owner = dotted(node.value.func).rpartition(".")[0]
            is_alone = ast.unparse(program.function_of(node) or program.tree).count(f"{owner}.train()") == 1
            if owner and is_alone and _trains_after(program, node) and f"{owner}.eval()" in program.text:
                yield from mutants_of(program, MODE_KEPT, "train", [program.blanked(node, "pass")], node, anywhere=True)
    for loop in loops_of(program):
        epochs = [each for each in program.ancestors(loop.step) if isinstance(each, ast.For | ast.While)]
        last = epochs[-1].body[-1]
        is_plain = not hasattr(last, "body") and not _calls_train(program, epochs[-1])
        if len(epochs) == 1 and not _calls_train(program, epochs[0]):
            kept = program.followed(loop.step, f"{loop.model}.eval()")
            yield from mutants_of(program, MODE_KEPT, "step", [kept], loop.step, anywhere=True)
        elif len(epochs) > 1 and is_plain:
            kept = program.followed(last, f"{loop.model}.eval()")
            yield from mutants_of(program, MODE_KEPT, "eval", [kept], loop.step, anywhere=True)
        elif len(epochs) > 1 and not _calls_train(program, epochs[-1]):
            first = epochs[-1].body[0]
            start = program.offset(first.lineno, first.col_offset)
            switched = Replacement(start, start, f"{loop.model}.eval(); ")
            if not hasattr(first, "body"):
                yield from mutants_of(program, MODE_KEPT, "eval", [switched], loop.step, anywhere=True)


def mutants_without_epoch(program: Program) -> Iterator[Mutant]:
    """`set_epoch` goes; or a loader that shuffles is given a distributed sampler that nobody tells the epoch."""
    for node in program.nodes:
        called = last_name(node.value.func) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ""
        if isinstance(node, ast.Expr) and called == "set_epoch" and "DistributedSampler" in program.text:
            yield from mutants_of(program, EPOCH, "set", [program.blanked(node, "pass")], node, anywhere=True)
    if any(word in program.text for word in _LIBRARY_LOOPS) or "sampler" in program.text:
        return
    loops = [node for node in program.nodes if isinstance(node, ast.For) and _EPOCHS.search(ast.unparse(node.target))]
    for node in program.nodes if loops and _has_backward(program.tree) else ():
        if isinstance(node, ast.Call) and last_name(node.func) == "DataLoader" and node.args:
            for keyword in node.keywords:
                if keyword.arg == "shuffle" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True:
                    data = program.source(node.args[0])
                    sampler = f"sampler=torch.utils.data.distributed.DistributedSampler({data})"
                    start = program.offset(keyword.lineno, keyword.col_offset)
                    change = Replacement(start, program.span(keyword.value)[1], sampler)
                    yield from mutants_of(program, EPOCH, "sampler", [change], node, anywhere=True)


# ---------------------------------------------------------------- what a loop does


def _is_scaled_backward(call: ast.Call) -> bool:
    inner = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "backward" else None
    return isinstance(inner, ast.Call) and last_name(inner.func) == "scale" and "scaler" in dotted(inner.func)


def _with_graph(value: ast.expr) -> ast.expr | None:
    """The tensor behind `loss.detach().float()`, `loss.item() * n`, `float(loss)`; None for anything else."""
    if isinstance(value, ast.BinOp):
        return _with_graph(value.left) or _with_graph(value.right)
    if not isinstance(value, ast.Call):
        return None
    if isinstance(value.func, ast.Attribute) and value.func.attr in _LEAVES_GRAPH:
        return value.func.value
    if isinstance(value.func, ast.Attribute) and value.func.attr in _KEEPS_GRAPH:
        return _with_graph(value.func.value)
    is_float = isinstance(value.func, ast.Name) and value.func.id == "float" and len(value.args) == 1
    return value.args[0] if is_float else None


def _without_calls(program: Program, value: ast.expr) -> str:
    """The text of a value without what takes the graph away."""
    text = re.sub(r"\.(?:item|detach)\(\)", "", program.source(value))
    return re.sub(r"^float\((.*)\)$", r"\1", text, flags=re.DOTALL)


def _has_backward(node: ast.AST) -> bool:
    return any(
        isinstance(each, ast.Call) and last_name(each.func) in {"backward", "manual_backward"}
        for each in ast.walk(node)
    )


def _is_in_training(program: Program, node: ast.AST) -> bool:
    """Whether it is repeated in a program that computes gradients, and nothing around switches them off."""
    around = list(program.ancestors(node))
    switched = [item for each in around if isinstance(each, ast.With) for item in each.items]
    switched_by = [decorator for each in around if isinstance(each, Function) for decorator in each.decorator_list]
    is_quiet = any(
        word in ast.unparse(each) for each in (*switched, *switched_by) for word in ("no_grad", "inference_mode")
    )
    repeated = any(isinstance(each, ast.For | ast.While) for each in around)
    return repeated and _has_backward(program.tree) and not is_quiet


def _trains_after(program: Program, node: ast.stmt) -> bool:
    """Whether the function, or the loop, that switches to training computes gradients, again and again."""
    around = list(program.ancestors(node))
    scope = next((each for each in around if isinstance(each, ast.For | ast.While | Function)), None)
    if scope is None or not _has_backward(scope):
        return False
    if isinstance(scope, ast.For | ast.While):
        return ".eval()" in ast.unparse(scope) or _EPOCHS.search(program.text) is not None
    return any(
        isinstance(each, ast.For) and f"{scope.name}(" in ast.unparse(each)
        for each in program.nodes
        if each is not scope
    )


def _calls_train(program: Program, loop: ast.AST) -> bool:
    """Whether something in the loop, or a function that it may call, switches the mode already."""
    functions = [node for node in program.nodes if isinstance(node, Function) and f"{node.name}(" in ast.unparse(loop)]
    return any(
        isinstance(each, ast.Call) and last_name(each.func) in {"train", "eval"}
        for part in (loop, *functions)
        for each in ast.walk(part)
    )
