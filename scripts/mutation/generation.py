"""LLM109, LLM110, LLM201, LLM202, LLM204, LLM206: what `generate` is given, what it is told, and what is done with its output."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from llm_lsp.knowledge import checkpoints, inputs
from scripts.mutation.edits import Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loads import loads_of
from scripts.mutation.tokenizations import continues_prompts, loaded_models, tokenizes

BEGUN_TWICE = "LLM109"
NO_HEADER, GREEDY, ZERO, COUNTED, LEFT_IN = "LLM110", "LLM201", "LLM202", "LLM204", "LLM206"

_FOR_SAMPLING = frozenset({"temperature", "top_p", "top_k", "min_p", "typical_p"})
_HAS_OWN_TEMPERATURE = re.compile(r"Whisper|SpeechSeq2Seq|Bark|Csm|Dia|Musicgen|Moshi")
_OTHER_ENGINES = re.compile(r"llm|client|engine", re.IGNORECASE)
_BEGINS_ITSELF = re.compile(r"[\"'][\w-]+/[\w.-]*(?:llama|mistral|mixtral|gemma)", re.IGNORECASE)
_LIMITS = frozenset({"max_length", "max_new_tokens"})
_USED_AS_ANSWER = re.compile(
    r"==|json\.loads|\bfloat\(|\bint\(|predictions=|[\"'](?:assistant|answer|completion|prediction|response)[\"']"
)
_ANSWER = "input()"


def mutants_begun_twice(program: Program) -> Iterator[Mutant]:
    """`add_special_tokens=False` goes where a rendered conversation is tokenized, of a family whose template begins it."""
    if "tokenize=False" not in program.text or not _BEGINS_ITSELF.search(program.text):
        return
    for call in program.nodes:
        for keyword in call.keywords if isinstance(call, ast.Call) and tokenizes(call) else ():
            if keyword.arg == "add_special_tokens" and ast.unparse(keyword.value) == "False":
                change = program.blanked(keyword.value, "True")
                yield from mutants_of(program, BEGUN_TWICE, "tokens", [change], keyword.value, anywhere=True)


def mutants_without_header(program: Program) -> Iterator[Mutant]:
    """`add_generation_prompt=True` goes, in a program that loads a model and generates.

    Not where further arguments are taken apart, which may bring a template of its own.
    """
    if not re.search(r"\.generate\(|pipeline\(", program.text) or not re.search(
        r"Model|For[A-Z]|pipeline\(", program.text
    ):
        return
    for node in program.nodes:
        if not isinstance(node, ast.Call) or last_name(node.func) != "apply_chat_template" or _has_spread(node):
            continue
        for keyword in node.keywords:
            if keyword.arg == "add_generation_prompt" and ast.unparse(keyword.value) == "True":
                change = program.blanked(keyword.value, "False")
                yield from mutants_of(program, NO_HEADER, "header", [change], node, anywhere=True)


def mutants_that_do_not_sample(program: Program) -> Iterator[Mutant]:
    """`do_sample=True` beside a temperature becomes false; or what searches is given a setting of sampling.

    Where nothing is said of sampling, only where the checkpoint is known not to sample by itself.
    """
    for call in _generations(program):
        words = {keyword.arg: keyword.value for keyword in call.keywords}
        asked = words.get("do_sample")
        is_drawn = isinstance(asked, ast.Constant) and asked.value is True
        if asked is not None and is_drawn and any(_is_positive(words.get(name)) for name in _FOR_SAMPLING):
            yield from mutants_of(program, GREEDY, "sample", [program.blanked(asked, "False")], call, anywhere=True)
        elif not _FOR_SAMPLING.isdisjoint(words) or _is_set_elsewhere(call) or is_drawn:
            continue
        elif (isinstance(asked, ast.Constant) and asked.value is False) or (asked is None and _searches(program)):
            change = program.with_argument(call, "temperature=0.7")
            yield from mutants_of(program, GREEDY, "setting", [change], call, anywhere=True)


def mutants_at_zero(program: Program) -> Iterator[Mutant]:
    """Tokens are drawn at temperature 0: the temperature becomes that, or sampling is asked for at it."""
    for call in _generations(program):
        words = {keyword.arg: keyword.value for keyword in call.keywords}
        asked, temperature = words.get("do_sample"), words.get("temperature")
        if _is_set_elsewhere(call) or not isinstance(asked, ast.Constant | None):
            continue
        changes: list[Replacement] = []
        if isinstance(asked, ast.Constant) and asked.value is not True:
            changes.append(program.blanked(asked, "True"))
        if temperature is not None:
            changes.append(program.blanked(temperature, "0.0"))
        else:
            changes.append(
                program.with_argument(call, "temperature=0.0" if asked else "do_sample=True, temperature=0.0")
            )
        yield from mutants_of(program, ZERO, "temperature" if temperature else "setting", changes, call, anywhere=True)


def mutants_that_count_prompts(program: Program) -> Iterator[Mutant]:
    """`max_new_tokens` becomes `max_length`, for a model that continues its prompt; or a length loses that of the prompt.

    Where the prompt is written in the program the limit becomes its number of words, which is no more than that of its
    tokens. Not where a short conversation is written.
    """
    is_written_chat = "apply_chat_template" in program.text and re.search(r"\"content\": (?:\[|\")", program.text)
    for call in _generations(program) if not is_written_chat else ():
        if not continues_prompts(program, call.func):
            continue
        words = {keyword.arg: keyword for keyword in call.keywords if keyword.arg in _LIMITS}
        limit = words.get("max_new_tokens")
        if limit is not None and len(words) == 1 and not _is_all_there_is(program, limit.value):
            prompt = _written_prompt(program)
            value = program.source(limit.value) if prompt is None else str(len(prompt.split()))
            start = program.offset(limit.lineno, limit.col_offset)
            change = Replacement(start, program.span(limit.value)[1], f"max_length={value}")
            yield from mutants_of(program, COUNTED, "limit", [change], call, anywhere=True)
        total = words.get("max_length")
        rest = total.value if total is not None else None
        if isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Add) and "shape" in ast.unparse(rest.left):
            change = program.blanked(rest, program.source(rest.right))
            yield from mutants_of(program, COUNTED, "sum", [change], call, anywhere=True)


def mutants_with_prompts(program: Program) -> Iterator[Mutant]:
    """What leaves out the prompt goes, in a program that uses the text as an answer; or a text with its prompt is compared."""
    models = [
        call
        for call in _generations(program)
        if continues_prompts(program, call.func) and "pixel_values" not in ast.unparse(call)
    ]
    for call in program.nodes if models else ():
        if not isinstance(call, ast.Call) or last_name(call.func) not in {"decode", "batch_decode"} or not call.args:
            continue
        whole = _without_slice(program, call.args[0])
        if whole is not None and _USED_AS_ANSWER.search(program.text) and not _is_printed(program, call):
            yield from mutants_of(program, LEFT_IN, "slice", [whole], call, anywhere=True)
        elif whole is None and _is_output(program, call.args[0], models):
            change = _compared(program, call)
            yield from mutants_of(program, LEFT_IN, "compare", change, call, anywhere=True)


# ---------------------------------------------------------------- generations


def _generations(program: Program) -> Iterator[ast.Call]:
    """The calls of `generate` of models of transformers that the program loads, and that continue texts."""
    classes = [name for _, name in loaded_models(program)]
    if not classes or any(_HAS_OWN_TEMPERATURE.search(name) for name in classes):
        return
    for node in program.nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "generate":
            continue
        if not _OTHER_ENGINES.search(ast.unparse(node.func.value)):
            yield node


def _has_spread(call: ast.Call) -> bool:
    return any(keyword.arg is None for keyword in call.keywords)


def _is_set_elsewhere(call: ast.Call) -> bool:
    """Whether settings may come from an object or a dictionary of their own."""
    names = [keyword.arg for keyword in call.keywords]
    return "generation_config" in names or names.count(None) > 1


def _is_positive(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float) and 0 < value.value not in {1, 50}


def _searches(program: Program) -> bool:
    """Whether the models that the program loads are known to take the likeliest token unless they are told to sample."""
    known = [checkpoints.from_table(load.checkpoint) for load in loads_of(program) if not load.is_tokenizer]
    drawn = [inputs.samples(one) if one is not None else None for one in known]
    return bool(drawn) and all(one is not None and not one.value for one in drawn)


def _is_all_there_is(program: Program, limit: ast.expr) -> bool:
    """Whether the limit is no less than what the model takes."""
    known = [checkpoints.from_table(load.checkpoint) for load in loads_of(program)]
    most = [one.max_positions.value for one in known if one is not None and one.max_positions is not None]
    return isinstance(limit, ast.Constant) and isinstance(limit.value, int) and limit.value >= min(most, default=10**9)


def _written_prompt(program: Program) -> str | None:
    """The longest text that the program writes and tokenizes; None where texts come in from outside."""
    texts = [node.args[0] for node in program.nodes if isinstance(node, ast.Call) and tokenizes(node) and node.args]
    names = {dotted(text) for text in texts if isinstance(text, ast.Name)}
    texts += [node.value for node in program.nodes if isinstance(node, ast.Assign) and dotted(node.targets[0]) in names]
    written = [
        each.value
        for text in texts
        for each in (text.elts if isinstance(text, ast.List) else [text])
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]
    return max(written, key=len, default=None)


# ---------------------------------------------------------------- outputs


def _without_slice(program: Program, decoded: ast.expr) -> Replacement | None:
    """`output[0, width:]` is `output[0]`, `output[:, width:]` is `output`; None where nothing is left out."""
    if not isinstance(decoded, ast.Subscript):
        return None
    owner = program.source(decoded.value)
    parts = decoded.slice.elts if isinstance(decoded.slice, ast.Tuple) else [decoded.slice]
    if not isinstance(parts[-1], ast.Slice) or parts[-1].lower is None or parts[-1].upper is not None:
        return None
    is_row = len(parts) == 2 and isinstance(parts[0], ast.Constant)
    return program.blanked(decoded, f"{owner}[{program.source(parts[0])}]" if is_row else owner)


def _is_printed(program: Program, call: ast.Call) -> bool:
    statement = program.statement_of(call)
    shown = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(shown, ast.Call) and last_name(shown.func) == "print"


def _compared(program: Program, call: ast.Call) -> list[Replacement]:
    """A text, or the first of several, that is printed, shown or named is compared with what somebody types."""
    text = program.parents[call]
    is_first = isinstance(text, ast.Subscript) and text.value is call and isinstance(text.slice, ast.Constant)
    whole = text if is_first and isinstance(text, ast.Subscript) else call
    statement = program.statement_of(call)
    if last_name(call.func) != "decode" and not is_first:
        return []
    if isinstance(statement, ast.Assign) and statement.value is whole and isinstance(statement.targets[0], ast.Name):
        return [program.followed(statement, f"print({statement.targets[0].id} == {_ANSWER})")]
    is_shown = isinstance(statement, ast.Expr) and (statement.value is whole or _is_printed(program, call))
    return [program.blanked(whole, f"({program.source(whole)} == {_ANSWER})")] if is_shown else []


def _is_output(program: Program, decoded: ast.expr, models: list[ast.Call]) -> bool:
    """Whether it is what a model gives, or its first row."""
    outputs = {
        dotted(statement.targets[0])
        for call in models
        if isinstance(statement := program.statement_of(call), ast.Assign)
    }
    is_row = isinstance(decoded, ast.Subscript) and isinstance(decoded.slice, ast.Constant)
    return dotted(decoded.value if is_row and isinstance(decoded, ast.Subscript) else decoded) in outputs - {""}
