"""What programs do with a tokenizer: the texts that they give it, and which model continues what it gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Program, Replacement, dotted, last_name
from scripts.mutation.loads import Load

__all__ = [
    "PADS",
    "SECOND_TEXT",
    "assigned",
    "batched",
    "calls_of",
    "continues_prompts",
    "given",
    "is_decoder",
    "is_of_one_text",
    "is_single",
    "loaded_models",
    "loads_decoder",
    "single_texts",
    "tokenizes",
]

PADS = re.compile(r"padding=(?!False)|\.pad\(|CollatorWithPadding")
SECOND_TEXT = '"and a second text, which is longer"'
_DECODER = re.compile(r"CausalLM|LMHead")
_TOKENIZER = re.compile(r"(?:tok|tokenizer|processor)$", re.IGNORECASE)
_TEXTS = frozenset({"text", "text_target"})


def assigned(statement: ast.stmt, call: ast.Call) -> str:
    """The name that a call is assigned to; empty if that is none."""
    if isinstance(statement, ast.Assign) and statement.value is call and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def given(call: ast.Call) -> list[ast.expr]:
    """What a call is given, by position or by name."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


# ---------------------------------------------------------------- texts


def tokenizes(node: ast.Call) -> bool:
    """Whether what is called has the name of a tokenizer."""
    return _TOKENIZER.search(last_name(node.func)) is not None


def calls_of(program: Program, load: Load) -> Iterator[ast.Call]:
    """The calls of the tokenizer that is loaded, by its name."""
    name = assigned(program.statement_of(load.call), load.call)
    for node in program.nodes:
        if isinstance(node, ast.Call) and name and dotted(node.func) == name and node.args:
            yield node


def single_texts(program: Program, load: Load) -> Iterator[ast.Call]:
    """Its calls with one text, where its name certainly means this load."""
    for call in calls_of(program, load):
        if is_single(call) and load.scope in {program.tree, program.function_of(call)}:
            yield call


def is_single(call: ast.Call) -> bool:
    """Whether a tokenization is of one text, unpadded."""
    return is_of_one_text(call) and not any(keyword.arg in {"padding", None} for keyword in call.keywords)


def is_of_one_text(call: ast.Call) -> bool:
    """Whether a tokenization is of one text, by what is written, or by a name that is no plural."""
    texts = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in _TEXTS)]
    is_text = len(texts) == 1 and isinstance(texts[0], (ast.Constant, ast.Name, ast.JoinedStr))
    return is_text and not dotted(texts[0]).endswith(("s", "batch"))


def batched(program: Program, call: ast.Call) -> list[Replacement]:
    """A tokenization of one text becomes one of two, padded."""
    (text,) = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in _TEXTS)]
    return [
        program.blanked(text, f"[{program.source(text)}, {SECOND_TEXT}]"),
        program.with_argument(call, "padding=True"),
    ]


# ---------------------------------------------------------------- models that continue


def is_decoder(class_name: str) -> bool:
    """Whether models of a class only have a decoder, by its name."""
    return _DECODER.search(class_name) is not None


def loads_decoder(program: Program) -> bool:
    """Whether some model that the program loads only has a decoder."""
    return any(is_decoder(name) for _, name in loaded_models(program))


def continues_prompts(program: Program, called: ast.expr) -> bool:
    """Whether what is called is a model that only has a decoder, or its `generate`.

    By what is loaded under its name, or because the program loads no other.
    """
    model = called.value if isinstance(called, ast.Attribute) and called.attr == "generate" else called
    models = list(loaded_models(program))
    own = [name for target, name in models if target and target == last_name(model)]
    classes = own or [name for _, name in models]
    return bool(classes) and all(is_decoder(name) for name in classes)


def loaded_models(program: Program) -> Iterator[tuple[str, str]]:
    """The models that are loaded by `from_pretrained`: the last word of what each is assigned to, and its class."""
    for node in program.nodes:
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or called.attr != "from_pretrained":
            continue
        statement, class_name = program.statement_of(node), last_name(called.value)
        if re.search(r"Model(?!Config)|For[A-Z]", class_name):
            yield last_name(statement.targets[0]) if isinstance(statement, ast.Assign) else "", class_name
