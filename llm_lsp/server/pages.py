"""What is shown on a rule and on a checkpoint, in Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from llm_lsp import rule_page
from llm_lsp.registry import RuleEntry, explanation

if TYPE_CHECKING:
    from llm_lsp.knowledge.checkpoints import Checkpoint, Known

__all__ = ["checkpoint_markdown", "rule_markdown"]

T = TypeVar("T")

_FIXES = {"safe": "has a fix", "unsafe": "has an unsafe fix", "none": "has no fix"}
_BYTES_PER_PARAMETER = (("fp32", 4.0), ("bf16", 2.0), ("int4", 0.5))
_TRUNCATES_TO_NOTHING = 10**20


def rule_markdown(rule: RuleEntry) -> str:
    """The page on a rule."""
    state = "on by default" if rule.default else "off by default"
    head = f"**{rule.code}** `{rule.name}`: {rule.severity.value}, {state}, {_FIXES[rule.fix]}"
    page = rule_page(rule.name)
    return "\n\n".join([head, explanation(rule), *([f"[{page}]({page})"] if page else [])])


def checkpoint_markdown(checkpoint: Checkpoint) -> str:
    """The card of a checkpoint: what is known of it, and from where; a value that no file confirms has a `~`."""
    rows = [
        ("architecture", _shown(checkpoint.architecture or checkpoint.model_type)),
        ("context length", _shown(checkpoint.max_positions, " tokens")),
        ("vocabulary", _shown(checkpoint.vocab_size, " rows")),
        ("tokenizer", _tokenizer(checkpoint)),
        ("parameters", _shown(checkpoint.params_billion, " billion")),
        ("weights in memory", _memory(checkpoint.params_billion)),
        ("saved as", _shown(checkpoint.dtype)),
        ("adapter of", _shown(checkpoint.base_model)),
        ("access", "gated" if checkpoint.license_gated is not None and checkpoint.license_gated.value else None),
    ]
    table = [f"| {name} | {value} |" for name, value in rows if value]
    sources = dict.fromkeys(
        known.source
        for known in (
            checkpoint.architecture,
            checkpoint.max_positions,
            checkpoint.vocab_size,
            checkpoint.params_billion,
        )
        if known is not None
    )
    parts = [f"**{checkpoint.id}**"]
    if table:
        parts.append("\n".join(["| | |", "| --- | --- |", *table]))
    if sources:
        parts.append(f"From {', '.join(sources)}.")
    return "\n\n".join(parts)


def _shown(known: Known[T] | None, unit: str = "") -> str | None:
    if known is None:
        return None
    if isinstance(known.value, int | float):
        return f"{'' if known.confirmed else '~'}{known.value:,}{unit}"
    # Apart, because VS Code takes a backtick that follows a tilde for a plain character.
    return f"{'' if known.confirmed else '~ '}`{known.value}`{unit}"


def _tokenizer(checkpoint: Checkpoint) -> str | None:
    parts = [_shown(checkpoint.tokenizer_family), _shown(checkpoint.tokenizer_len, " tokens")]
    if checkpoint.model_max_length is not None and checkpoint.model_max_length.value < _TRUNCATES_TO_NOTHING:
        parts.append(f"truncates to {_shown(checkpoint.model_max_length)}")
    if checkpoint.padding_side is not None:
        parts.append(f"pads on the {checkpoint.padding_side.value}")
    return ", ".join(filter(None, parts)) or None


def _memory(parameters: Known[float] | None) -> str | None:
    """Of the weights alone; a forward pass and the cache come on top."""
    if parameters is None:
        return None
    sizes = ", ".join(f"{parameters.value * size:.3g} GB in {name}" for name, size in _BYTES_PER_PARAMETER)
    return sizes if parameters.confirmed else f"~{sizes}"
