"""LLM102, LLM103, LLM112, LLM117: no token to pad with, one that means something else, or nobody says what is padding."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from llm_lsp.knowledge import checkpoints, inputs
from scripts.mutation.edits import Function, Mutant, Program, Replacement, dotted, last_name, mutants_of
from scripts.mutation.loads import Load, loads_of
from scripts.mutation.tokenizations import (
    PADS,
    assigned,
    batched,
    continues_prompts,
    is_of_one_text,
    loaded_models,
    single_texts,
    tokenizes,
)

NO_TOKEN, END_MASKED, NO_MASK, COUNTED = "LLM102", "LLM103", "LLM112", "LLM117"

_IS_TOKENIZER = re.compile(r"tok|process", re.IGNORECASE)
_MASKS_BY_PAD = re.compile(r"ForLanguageModeling\([^)]*mlm=False|pad_token_id[\]),: ]+.*-100|-100.*pad_token_id")
_PAD_TOKENS = frozenset({"pad_token", "pad_token_id"})
_SEES_NO_PADDING = re.compile(r"(?:CLIP|MetaClip|XCLIP|Siglip|GroupViT|Aimv2)")
"""Models of texts that look back only, or learned without masks."""
_IS_NO_STATE = re.compile(r"loss|log|entrop|ratio|\bx\b")
_MORE_THAN_TEXT = re.compile(r"images|videos|visual_embeds")
_END_AS_PAD = re.compile(r"pad_token(?:_id)? = .*\.eos_token")


def mutants_without_pad_token(program: Program) -> Iterator[Mutant]:
    """All that sets a pad token goes, in a program that pads; or a text is padded where nothing sets one.

    Only where the program names a checkpoint that is known to have none, and no other that is.
    """
    named = [known for text in _texts(program) if (known := checkpoints.from_table(text)) is not None]
    has_token = {known.has_pad_token.value for known in named if known.has_pad_token is not None}
    if has_token != {False}:
        return
    setters = [node for node in program.nodes if _sets_pad_token(node)]
    if setters and PADS.search(program.text):
        changes = [_without(program, node) for node in setters]
        yield from mutants_of(program, NO_TOKEN, "set", changes, program.statement_of(setters[0]), anywhere=True)
    if setters or PADS.search(program.text) or "pad_token" in program.text:
        return
    for load in loads_of(program):
        for call in single_texts(program, load) if load.is_tokenizer else ():
            yield from mutants_of(program, NO_TOKEN, "pads", batched(program, call), call, anywhere=True)


def mutants_that_mask_ends(program: Program) -> Iterator[Mutant]:
    """A pad token of its own becomes the end-of-text token; or labels are masked by its id, not by the attention mask.

    Only in programs that train a causal language model on texts whose end they write.
    """
    if not re.search(r"CausalLM|LMHead|SFTTrainer", program.text) or not re.search(
        r"Trainer\(|\.backward\(", program.text
    ):
        return
    if not re.search(r"eos_token(?!_id=)|<\|endoftext\|>|apply_chat_template", program.text):
        return
    if _MASKS_BY_PAD.search(program.text):
        for node in program.nodes:
            if _sets_pad_token(node) and isinstance(node, ast.stmt) and ".eos_token" not in ast.unparse(node):
                owner = _owner_of_pad_token(node)
                change = program.blanked(node, f"{owner}.pad_token = {owner}.eos_token")
                yield from mutants_of(program, END_MASKED, "token", [change], node, anywhere=True)
    name = re.search(r"(?:self\.)?\b\w*tok\w*(?=\.pad_token = )", program.text)
    if name is None or not _END_AS_PAD.search(program.text):
        return
    for node in program.nodes:
        if isinstance(node, ast.Call) and last_name(node.func) == "where" and _masks_labels(node):
            change = program.blanked(node.args[0], f"{program.source(node.args[2])} == {name[0]}.pad_token_id")
            yield from mutants_of(program, END_MASKED, "mask", [change], node, anywhere=True)


def mutants_without_mask(program: Program) -> Iterator[Mutant]:
    """`attention_mask` goes, or all of a padded encoding but its ids; or one text becomes such a batch.

    Only where the program loads the model, and texts are all that it takes. Not where padding is seen by nothing:
    behind the texts of a decoder's forward, or where `generate` tells it by a token of its own.
    """
    encodings = {
        (program.function_of(statement), assigned(statement, statement.value))
        for statement in program.nodes
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and _pads_texts(statement.value)
    }
    classes = {name for _, name in loaded_models(program)}
    if not classes or any(_SEES_NO_PADDING.match(name) for name in classes) or _MORE_THAN_TEXT.search(program.text):
        return
    for call in program.nodes:
        if not isinstance(call, ast.Call) or not _is_run(call) or not _looks_at_padding(program, call):
            continue
        for keyword in call.keywords:
            encoding = (program.function_of(call), dotted(keyword.value))
            if (
                keyword.arg == "attention_mask"
                and PADS.search(program.text)
                and "attention_mask" in ast.unparse(keyword.value)
            ):
                yield from mutants_of(
                    program, NO_MASK, "mask", [_without_keyword(program, keyword)], call, anywhere=True
                )
            elif keyword.arg is None and encoding in encodings:
                yield from mutants_of(
                    program, NO_MASK, "ids", [_ids_alone(program, call, keyword)], call, anywhere=True
                )
    if not PADS.search(program.text):
        yield from _padded_without_mask(program)


def mutants_that_count_padding(program: Program) -> Iterator[Mutant]:
    """A mean over tokens is no longer weighted with the mask; or it comes in the place of the first token's state.

    Only in programs that pad several texts and load the model.
    """
    if not PADS.search(program.text) or not any(True for _ in loaded_models(program)):
        return
    for node in program.nodes if "hidden_state" in program.text else ():
        states = _weighted(node) if isinstance(node, ast.BinOp) else None
        if isinstance(node, ast.BinOp) and states is not None and not _IS_NO_STATE.search(ast.unparse(states)):
            change = program.blanked(node, f"{program.source(states)}.mean(1)")
            is_padded = _pads_beside(program, node) or _is_given_mask(program.function_of(node))
            yield from mutants_of(program, COUNTED, "weights", [change] if is_padded else [], node, anywhere=True)
        elif isinstance(node, ast.Subscript) and last_name(node.value) == "last_hidden_state":
            is_first = ast.unparse(node.slice).strip("()") == ":, 0" and _pads_beside(program, node)
            change = program.blanked(node, f"{program.source(node.value)}.mean(1)")
            yield from mutants_of(program, COUNTED, "first", [change] if is_first else [], node, anywhere=True)


def _pads_beside(program: Program, node: ast.AST) -> bool:
    """Whether the function around pads several texts."""
    around = ast.walk(program.function_of(node) or program.tree)
    return any(isinstance(each, ast.Call) and _pads_texts(each) for each in around)


def _is_given_mask(function: Function | None) -> bool:
    return function is not None and any("mask" in one.arg for one in function.args.args)


def _weighted(mean: ast.BinOp) -> ast.expr | None:
    """The states in `(states * mask).sum(1) / mask.sum(1)`."""
    total = mean.left.func if isinstance(mean.op, ast.Div) and isinstance(mean.left, ast.Call) else None
    product = total.value if isinstance(total, ast.Attribute) and total.attr == "sum" else None
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return None
    is_weighted = "mask" in ast.unparse(product.right) and "mask" in ast.unparse(mean.right)
    return product.left if is_weighted else None


def _padded_without_mask(program: Program) -> Iterator[Mutant]:
    """One text becomes a padded batch, of which a model gets the ids alone."""
    if _MORE_THAN_TEXT.search(program.text):
        return
    for load in loads_of(program):
        statement = program.statement_of(load.call)
        name = assigned(statement, load.call)
        for call in single_texts(program, load) if load.is_tokenizer and name else ():
            encoding = assigned(program.statement_of(call), call)
            runs = [run for run in program.nodes if isinstance(run, ast.Call) and _is_run(run) and _gets(run, encoding)]
            if not encoding or len(runs) != 1 or not any(word.arg == "return_tensors" for word in call.keywords):
                continue
            spread = [word for word in runs[0].keywords if word.arg is None]
            changes = [*batched(program, call), *(_ids_alone(program, runs[0], word) for word in spread)]
            if _is_generate(runs[0]):
                if not continues_prompts(program, runs[0].func):
                    continue
                changes.append(program.followed(statement, f"{name}.pad_token = {name}.eos_token"))
            elif not _is_of_both_ways(load, program, runs[0]):
                continue
            yield from mutants_of(program, NO_MASK, "batch", changes, runs[0], anywhere=True)


# ---------------------------------------------------------------- pad tokens


def _texts(program: Program) -> Iterator[str]:
    for node in program.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _sets_pad_token(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        is_of_tokenizer = isinstance(target, ast.Attribute) and _IS_TOKENIZER.search(dotted(target.value)) is not None
        return is_of_tokenizer and last_name(target) in _PAD_TOKENS
    if isinstance(node, ast.keyword):
        return node.arg == "pad_token"
    call = node.value if isinstance(node, ast.Expr) else None
    is_addition = isinstance(call, ast.Call) and last_name(call.func) == "add_special_tokens"
    return is_addition and "pad_token" in ast.unparse(node)


def _owner_of_pad_token(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
        return ast.unparse(node.targets[0].value)
    call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return dotted(call.func).rpartition(".")[0] if call is not None else ""


def _masks_labels(call: ast.Call) -> bool:
    """`torch.where(mask == 0, -100, ids)`."""
    return len(call.args) == 3 and ast.unparse(call.args[1]) == "-100" and "mask" in ast.unparse(call.args[0])


def _without(program: Program, node: ast.AST) -> Replacement:
    if isinstance(node, ast.keyword):
        return _without_keyword(program, node)
    return program.blanked(program.statement_of(node), "pass")


def _without_keyword(program: Program, keyword: ast.keyword) -> Replacement:
    end = program.span(keyword.value)[1]
    comma = re.compile(r"\s*,").match(program.text, end)
    return Replacement(program.offset(keyword.lineno, keyword.col_offset), comma.end() if comma else end, "")


# ---------------------------------------------------------------- runs of models


def _is_run(call: ast.Call) -> bool:
    """Whether a model is called, or continues a prompt, by the names."""
    name = last_name(call.func)
    return name == "generate" or re.search(r"(?:model|encoder|bert|lm|net)$", name, re.IGNORECASE) is not None


def _pads_texts(call: ast.Call) -> bool:
    """Whether several rows are made equally long."""
    text = ast.unparse(call)
    is_one = is_of_one_text(call) and "return_overflowing_tokens" not in text and "'max_length'" not in text
    return tokenizes(call) and not is_one and PADS.search(text) is not None


def _is_generate(call: ast.Call) -> bool:
    return last_name(call.func) == "generate"


def _looks_at_padding(program: Program, call: ast.Call) -> bool:
    is_decoder_only = continues_prompts(program, call.func)
    if _is_generate(call):
        return is_decoder_only and _END_AS_PAD.search(program.text) is not None
    return not is_decoder_only or re.search(r"padding_side ?= ?[\"']left", program.text) is not None


def _gets(run: ast.Call, encoding: str) -> bool:
    """Whether all that a run gets of texts is an encoding, or its ids."""
    spread = [word.value for word in run.keywords if word.arg is None]
    ids = [*run.args, *(word.value for word in run.keywords if word.arg in {"input_ids", "inputs"})]
    is_masked = any(word.arg is not None and "mask" in word.arg for word in run.keywords)
    if spread:
        return [dotted(each) for each in spread] == [encoding] and not ids and not is_masked
    return (
        len(ids) == 1
        and not is_masked
        and re.match(rf"{re.escape(encoding)}(?:\.|\[['\"])input_ids\b", ast.unparse(ids[0])) is not None
    )


def _ids_alone(program: Program, call: ast.Call, spread: ast.keyword) -> Replacement:
    """`model(**batch)` is `model(batch["input_ids"])`."""
    name = "inputs" if _is_generate(call) else "input_ids"
    start = program.text.rindex("**", 0, program.span(spread.value)[0])
    return Replacement(start, program.span(spread.value)[1], f'{name}={program.source(spread.value)}["input_ids"]')


def _is_of_both_ways(load: Load, program: Program, run: ast.Call) -> bool:
    """Whether the model is known to look at all positions from each."""
    known = checkpoints.from_table(load.checkpoint)
    model_type = known.model_type.value if known is not None and known.model_type is not None else ""
    return model_type in inputs.ATTENDS_BOTH_WAYS and not continues_prompts(program, run.func)
