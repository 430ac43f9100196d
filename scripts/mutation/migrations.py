"""LLM801, LLM802: an argument is called what it was called in older releases, or one is passed that is gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, Replacement, last_name, mutants_of

GONE, RENAMED = "LLM801", "LLM802"

_ARGUMENTS = re.compile(r"(?:Seq2Seq|SentenceTransformer)?TrainingArguments|(?:SFT|DPO|Reward|GRPO|RLOO|KTO)Config")
_TRAINER = re.compile(r"(?:Seq2Seq|SFT|DPO|Reward|GRPO|RLOO|KTO)?Trainer")
_MODEL = re.compile(r"AutoModel(?:For\w+)?\.from_pretrained")
_OLD_NAMES = (
    (_ARGUMENTS, "eval_strategy", "evaluation_strategy"),
    (_ARGUMENTS, "use_cpu", "no_cuda"),
    (_ARGUMENTS, "per_device_train_batch_size", "per_gpu_train_batch_size"),
    (_ARGUMENTS, "per_device_eval_batch_size", "per_gpu_eval_batch_size"),
    (_ARGUMENTS, "hub_token", "push_to_hub_token"),
    (re.compile("SFTConfig"), "max_length", "max_seq_length"),
    (_TRAINER, "processing_class", "tokenizer"),
    (_MODEL, "token", "use_auth_token"),
)
"""Who takes an argument, what it is called, what it was called."""
_OLD_ARGUMENTS = (
    (_ARGUMENTS, "optim", "adafactor=True"),
    (_ARGUMENTS, "fp16", 'half_precision_backend="auto"'),
    (_ARGUMENTS, "use_cpu", "use_mps_device=True"),
    (_ARGUMENTS, "torch_compile", 'torchdynamo="inductor"'),
    (_ARGUMENTS, "accelerator_config", "split_batches=True"),
    (_ARGUMENTS, "include_for_metrics", "include_inputs_for_metrics=True"),
    (_MODEL, "attn_implementation", "use_flash_attention_2=True"),
    (_MODEL, "quantization_config", "load_in_8bit=True"),
)
"""Who takes an argument, what it is called, what was passed instead."""
_ADDED = (
    (_ARGUMENTS, "overwrite_output_dir=True"),
    (re.compile("SFTTrainer"), "max_seq_length=512"),
)
"""What stood in most programs of its time."""


def mutants_with_gone_arguments(program: Program) -> Iterator[Mutant]:
    """A current argument becomes one that is gone; or one comes in that stood in most programs of its time."""
    for call in _calls(program):
        for callee, name, old in _OLD_ARGUMENTS:
            for keyword in call.keywords if _is_of(call, callee) else ():
                if keyword.arg == name and (name != "quantization_config" or "BitsAndBytes" in program.text):
                    start = program.offset(keyword.lineno, keyword.col_offset)
                    change = Replacement(start, program.span(keyword.value)[1], old)
                    yield from mutants_of(program, GONE, "instead", [change], call)
        for callee, old in _ADDED:
            if _is_of(call, callee):
                yield from mutants_of(program, GONE, "added", [program.with_argument(call, old)], call)


def mutants_with_old_names(program: Program) -> Iterator[Mutant]:
    """A current argument goes by its old name."""
    for call in _calls(program):
        for callee, new, old in _OLD_NAMES:
            for keyword in call.keywords if _is_of(call, callee) else ():
                if keyword.arg == new:
                    start = program.offset(keyword.lineno, keyword.col_offset)
                    change = Replacement(start, start + len(new), old)
                    yield from mutants_of(program, RENAMED, "name", [change], call)


def _calls(program: Program) -> Iterator[ast.Call]:
    """The calls of what neither a program nor its own package defines."""
    own = {node.name for node in program.nodes if isinstance(node, ast.ClassDef)}
    for node in program.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            own.update(alias.asname or alias.name for alias in node.names)
    yield from (node for node in program.nodes if isinstance(node, ast.Call) and last_name(node.func) not in own)


def _is_of(call: ast.Call, callee: re.Pattern[str]) -> bool:
    name = last_name(call.func)
    if name == "from_pretrained" and isinstance(call.func, ast.Attribute):
        name = f"{last_name(call.func.value)}.{name}"
    return callee.fullmatch(name) is not None
