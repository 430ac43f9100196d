"""Which functions and methods of torch keep the type of a tensor's elements, and what models give in their own.

Sources: torch 2.13 (type promotion executed), the models of transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["MAKERS", "OUTPUTS", "WIDE_LOGITS", "has_graph", "is_of_each_token", "keeps_type"]

MAKERS = frozenset(
    f"torch.{name}"
    for name in ("tensor", "zeros", "ones", "empty", "full", "rand", "randn", "as_tensor", "arange", "linspace")
)
"""Functions that make a tensor in the type that they are told."""

_KEEP_TYPE = frozenset({
    "mean", "sum", "squeeze", "unsqueeze", "view", "reshape", "permute", "transpose", "flatten", "contiguous", "clone", "softmax", "log_softmax",
    "norm", "sigmoid", "tanh", "relu", "exp", "log", "sqrt", "rsqrt", "square", "abs", "pow", "clamp", "clamp_min", "t", "swapaxes", "movedim",
    "unfold", "repeat", "expand", "repeat_interleave", "index_select", "select", "narrow", "cumsum", "std", "var", "nan_to_num", "pin_memory",
    "normalize", "masked_fill", "cpu", "cuda", "flip", "roll", "detach", "amax", "amin", "stack", "cat", "concat",
})  # fmt: skip


def keeps_type(name: str) -> bool:
    """Whether a function of torch, or a method of a tensor, gives floating-point numbers back in the type they came in."""
    owner, _, last = name.rpartition(".")
    return last in _KEEP_TYPE and owner in {"", "torch", "torch.nn.functional", "torch.linalg"}


OUTPUTS = frozenset({
    "logits", "last_hidden_state", "pooler_output", "hidden_states", "image_embeds", "text_embeds", "attentions", "start_logits", "end_logits",
    "encoder_last_hidden_state", "decoder_hidden_states", "encoder_hidden_states", "embeddings", "T", "mT",
})  # fmt: skip
"""What of a model's output is computed in the type of its weights; losses are float32."""
WIDE_LOGITS = (
    "mamba",
    "xlstm",
    "nemotron_h",
    "nemotron-h",
    "mllama",
    "blt",
    "moshi",
    "inkling",
    "omni",
    "beam",
    "diffusion_gemma",
    "owl",
)
"""Words in the names of models that give float32 logits whatever their weights are; all causal models did before 4.45."""
_WITH_GRAPH = OUTPUTS | {"loss", "losses"}
_OF_EACH_TOKEN = frozenset(
    {
        "last_hidden_state",
        "hidden_states",
        "attentions",
        "encoder_last_hidden_state",
        "decoder_hidden_states",
        "encoder_hidden_states",
    }
)
_WITH_LARGE_LOGITS = ("CausalLM", "LMHead", "ForConditionalGeneration", "Seq2SeqLM", "MaskedLM")


def has_graph(names: Iterable[object]) -> bool:
    """Whether a part of a model's output, by the names on the way to it, is what gradients pass."""
    texts = [name for name in names if isinstance(name, str)]
    return bool(texts) and all(name in _WITH_GRAPH for name in texts)


def is_of_each_token(names: Iterable[object], model: str) -> bool:
    """Whether a part of a model's output, by the names on the way to it, holds something for every token of a batch.

    `model` is the class; a slice, whose name is None, is of fewer.
    """
    given = [*names]
    texts = [name for name in given if isinstance(name, str)]
    is_large = texts == ["logits"] and any(word in model for word in _WITH_LARGE_LOGITS)
    is_whole = all(isinstance(name, (str, int)) for name in given)
    return is_whole and (is_large or (len(texts) == 1 and texts[0] in _OF_EACH_TOKEN))
