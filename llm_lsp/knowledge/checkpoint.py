"""What is known of one checkpoint: per field a value, where it comes from, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, TypeVar, cast

from llm_lsp.named_tuples import NamedTuple

__all__ = ["NO_TOKENIZER", "Checkpoint", "Known"]

T_co = TypeVar("T_co", covariant=True)

# The tokenizer family of a repository that ships no tokenizer (vision, speech pretraining, mamba, OpenELM).
NO_TOKENIZER = "none"


class Known(Generic[T_co]):
    """A value, where it comes from, and whether a file says so.

    A value that is not `confirmed` was recorded from general knowledge, or sources contradict each other: no number
    in a message and no error may rest on it.
    """

    # Not a named tuple, which can't be generic before Python 3.11.
    __slots__ = ("confirmed", "source", "value")

    def __init__(self, value: T_co, source: str, confirmed: bool) -> None:
        self.value = value
        self.source = source
        self.confirmed = confirmed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self._key() == cast("Known[object]", other)._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.value, self.source, self.confirmed

    def __repr__(self) -> str:
        return f"Known({self.value!r}, {self.source!r}, confirmed={self.confirmed})"


class Checkpoint(NamedTuple):
    """One checkpoint; a field that is None is unknown.

    `id` is the canonical hub id, or the folder as it was named; `folder` holds its files where they are on this disk. `base_model` names the model that an adapter belongs
    to (empty where the adapter doesn't say); a checkpoint that has one is an adapter, not a model. `vocab_size` counts the embedding's rows,
    `tokenizer_len` is `len(tokenizer)`, `max_positions` the tokens that the model can take, `model_max_length` what
    its tokenizer truncates to (a number above 10**20 means that it truncates to nothing), `do_sample` what
    `generate` does when nothing is said.
    """

    id: str
    folder: Path | None = None
    base_model: Known[str] | None = None
    model_type: Known[str] | None = None
    architecture: Known[str] | None = None
    tokenizer_family: Known[str] | None = None
    base_vocab: Known[str] | None = None
    vocab_size: Known[int] | None = None
    tokenizer_len: Known[int] | None = None
    max_positions: Known[int] | None = None
    is_encoder_decoder: Known[bool] | None = None
    has_pad_token: Known[bool] | None = None
    params_billion: Known[float] | None = None
    license_gated: Known[bool] | None = None
    model_max_length: Known[int] | None = None
    padding_side: Known[str] | None = None
    adds_bos: Known[bool] | None = None
    dtype: Known[str] | None = None
    do_sample: Known[bool] | None = None
