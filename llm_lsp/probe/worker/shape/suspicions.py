"""Bugs that raise nothing, seen in the sizes: grown results, attention over the heads, outputs for another vocabulary."""

from __future__ import annotations

from collections.abc import Iterable

from torch import nn

from .describing import sizes_text, tensors_in
from .operations import Attention, Broadcast, Place
from .oracles import Suspicion
from .running import Ran

SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
PADDING = 1024
"""Vocabularies are padded to multiples; up to this many rows more are no other vocabulary."""


def broadcasts(found: Iterable[Broadcast]) -> list[Suspicion]:
    """Results that are larger than both operands, though nobody wrote down an axis of size 1."""
    seen: dict[object, Suspicion] = {}
    for each in found:
        sign = SIGNS.get(each.name)
        both = f"{each.left} {sign} {each.right}" if sign else f"`{each.name}` of {each.left} and {each.right}"
        text = f"{both} gives {each.result}, larger than both: an axis is broadcast that nobody declared"
        seen.setdefault(each.place, Suspicion("broadcast", text, each.place))
    return list(seen.values())


def attentions(found: Iterable[Attention], length: int) -> list[Suspicion]:
    """Attention whose heads and lengths are not where the module's own numbers say."""
    seen: dict[object, Suspicion] = {}
    for each in found:
        _, heads, tokens, width = each.queries
        declared = each.declared_heads
        shape = "[" + ", ".join(map(str, each.queries)) + "]"
        if not declared or heads in declared:
            continue
        if tokens in declared and heads == length:
            text = f"attention runs over the {tokens} heads, not over the {length} tokens: queries are {shape}"
        elif width in declared and tokens == length:
            text = f"attention has {heads} heads of {width}, the module says {width} heads: queries are {shape}"
        else:
            continue
        seen.setdefault(each.place, Suspicion("heads", text, each.place))
    return list(seen.values())


def vocabulary(ran: Ran) -> Suspicion | None:
    """Logits over another number of tokens than the embedding of the input has rows."""
    embedding = first_embedding(ran)
    logits = next((each for each in tensors_in(ran.output) if each.dim() == 3), None)
    if embedding is None or logits is None:
        return None
    rows, outputs = embedding.num_embeddings, int(logits.shape[-1])
    if (
        outputs == rows
        or (rows < outputs <= rows + PADDING and outputs % 8 == 0)
        or (outputs < rows <= outputs + PADDING and rows % 8 == 0)
    ):
        return None
    text = f"logits {sizes_text(logits)} are over {outputs} tokens, the embedding of the tokens has {rows} rows"
    last = [row for row in ran.recorder.rows.values() if isinstance(row.module, nn.Linear)]
    row = last[-1] if last else None
    place = Place(row.file, row.line) if row is not None and row.file is not None and row.line is not None else None
    return Suspicion("vocabulary", text, place)


def first_embedding(ran: Ran) -> nn.Embedding | None:
    """The embedding that the ids go to first."""
    return next((row.module for row in ran.recorder.rows.values() if isinstance(row.module, nn.Embedding)), None)
