"""Whether a tokenizer is the one that a model was trained with, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final, cast

from llm_lsp.knowledge.checkpoint import NO_TOKENIZER, Checkpoint, Known
from llm_lsp.knowledge.checkpoint_files import json_object, read_regular_file
from llm_lsp.knowledge.checkpoint_table import are_distinct, are_doubtful
from llm_lsp.named_tuples import NamedTuple

__all__ = [
    "TokenizerComparison",
    "Vocabulary",
    "compare_tokenizers",
    "read_vocabulary",
    "same_tokenizer",
    "tokenizer_size",
]

LARGEST_VOCABULARY: Final = 64_000_000
SENTENCEPIECE_FILES: Final = ("tokenizer.model", "spiece.model", "sentencepiece.bpe.model")

# Of the ids that two vocabularies share, the part that names the same piece. Added tokens and a few renamed ones leave
# nearly all of them, another vocabulary (or a shifted one) nearly none: below the half it is another one.
OTHER_BELOW: Final = 0.5


class TokenizerComparison(NamedTuple):
    """What is known of a tokenizer that feeds a model.

    `same`: True where the vocabularies are one, False where they are not or where the tokenizer has more tokens than
    the model has rows (`out_of_range`), None where it is unknown or only added tokens differ. `certain`: files show
    that `same` is False, so that an error may be reported. `tokenizer_size` is `len(tokenizer)`, `model_size` the
    rows of the model's embedding; a message quotes only the confirmed ones.
    """

    same: bool | None
    certain: bool
    out_of_range: bool
    tokenizer_size: Known[int] | None
    model_size: Known[int] | None


def compare_tokenizers(tokenizer: Checkpoint, model: Checkpoint) -> TokenizerComparison:
    """Compare the checkpoint that the tokenizer was loaded from with the one that the model was loaded from.

    Reads the tokenizer files of checkpoints on disk, if the answer needs them.
    """
    if tokenizer.base_model is not None or model.base_model is not None:  # an adapter may bring tokens of its own
        return TokenizerComparison(None, certain=False, out_of_range=False, tokenizer_size=None, model_size=None)
    same = same_vocabulary(tokenizer, model)
    if same is True or NO_TOKENIZER in (value_of(tokenizer.tokenizer_family), value_of(model.tokenizer_family)):
        same = True if same else None
        return TokenizerComparison(same, certain=False, out_of_range=False, tokenizer_size=None, model_size=None)
    tokens, rows = tokenizer_size(tokenizer), model.vocab_size
    confirmed = tokens is not None and rows is not None and tokens.confirmed and rows.confirmed
    out_of_range = tokens is not None and rows is not None and tokens.value > rows.value
    related = same is False or value_of(tokenizer.base_vocab) == value_of(model.base_vocab) is not None
    out_of_range = out_of_range and (confirmed or related)
    # Equal sizes are no evidence: then only our table says that the pieces differ, and it was not checked by machine.
    differ = tokens is not None and rows is not None and tokens.value != rows.value
    return TokenizerComparison(
        same=False if out_of_range else same,
        certain=(out_of_range or same is False) and confirmed and differ,
        out_of_range=out_of_range,
        tokenizer_size=tokens,
        model_size=rows,
    )


def same_tokenizer(first: Checkpoint, second: Checkpoint) -> bool | None:
    """Whether the tokenizer of `first` is right for the model `second`; None where it is unknown."""
    return compare_tokenizers(first, second).same


def same_vocabulary(first: Checkpoint, second: Checkpoint) -> bool | None:
    """True for one vocabulary, False for different regular pieces or shifted ids, None where it is unknown."""
    if first.folder is None and second.folder is None and first.id.lower() == second.id.lower():
        return True
    if first.folder is not None and second.folder is not None and is_same_folder(first.folder, second.folder):
        return True
    family, other_family = value_of(first.tokenizer_family), value_of(second.tokenizer_family)
    if family is not None and family == other_family and family != NO_TOKENIZER:
        return True
    one, two = vocabulary_of(first), vocabulary_of(second)
    if one is not None and two is not None:  # what the files hold counts for more than what is recorded
        return same_content(one, two)
    if family is None or other_family is None:
        return None
    if are_distinct(family, other_family):
        return False
    vocabulary, other = value_of(first.base_vocab), value_of(second.base_vocab)
    if vocabulary is None or other is None or vocabulary == other or are_doubtful(vocabulary, other):
        return None
    return False


def tokenizer_size(checkpoint: Checkpoint) -> Known[int] | None:
    """Return `len(tokenizer)`: counted in the tokenizer's files where the checkpoint is on disk, else as recorded."""
    vocabulary = vocabulary_of(checkpoint)
    if vocabulary is None or not vocabulary.pieces:
        return checkpoint.tokenizer_len
    return Known(vocabulary.size, vocabulary.file, confirmed=True)


# ---------------------------------------------------------------- vocabularies on disk


class Vocabulary(NamedTuple):
    """The tokens of a tokenizer by id: the regular `pieces` and the `added` ones.

    A SentencePiece file is not taken apart: it has no pieces, and only `content` tells whether two are the same.
    """

    file: str
    pieces: Mapping[str, int]
    added: Mapping[str, int]
    content: bytes | None

    @property
    def size(self) -> int:
        return len(self.pieces) + sum(token not in self.pieces for token in self.added)


def read_vocabulary(folder: Path) -> Vocabulary | None:
    """Return the vocabulary of the tokenizer in a folder; None where there is none that can be read."""
    files = ("tokenizer.json", "vocab.json", "vocab.txt", *SENTENCEPIECE_FILES)
    for file in files:
        try:
            status = (folder / file).stat()
        except (OSError, ValueError):
            continue
        # An editor keeps running while files change: the state of the file is part of the key.
        vocabulary = parse_vocabulary(folder, file, status.st_mtime_ns, status.st_size)
        if vocabulary is not None:
            return vocabulary
    return None


@lru_cache(maxsize=4)  # a vocabulary of 250,000 pieces holds 30 MB
def parse_vocabulary(folder: Path, file: str, changed: int, size: int) -> Vocabulary | None:
    del changed, size  # part of the key only
    data = read_regular_file(folder / file, LARGEST_VOCABULARY)
    if data is None:
        return None
    if file in SENTENCEPIECE_FILES:
        return Vocabulary(file, {}, {}, data)
    if file == "tokenizer.json":
        return from_tokenizer_json(file, json_object(data) or {})
    pieces = from_lines(data) if file == "vocab.txt" else ids_by_token(json_object(data))
    return Vocabulary(file, pieces, added_tokens(folder), None) if pieces else None


def from_tokenizer_json(file: str, whole: Mapping[str, object]) -> Vocabulary | None:
    model = whole.get("model")
    listed = cast("Mapping[str, object]", model).get("vocab") if isinstance(model, dict) else None
    if isinstance(listed, list):  # Unigram: pairs of piece and score, the id is the position
        pairs = [cast("list[object]", pair) for pair in cast("list[object]", listed) if isinstance(pair, list) and pair]
        pieces: Mapping[str, int] = {str(pair[0]): number for number, pair in enumerate(pairs)}
    else:
        pieces = ids_by_token(listed)
    added: dict[str, int] = {}
    tokens = whole.get("added_tokens")
    for token in cast("list[object]", tokens) if isinstance(tokens, list) else []:
        if isinstance(token, dict):
            entry = cast("Mapping[str, object]", token)
            content, number = entry.get("content"), entry.get("id")
            if isinstance(content, str) and isinstance(number, int):
                added[content] = number
    return Vocabulary(file, pieces, added, None) if pieces else None


def from_lines(data: bytes) -> Mapping[str, int]:
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return {line: number for number, line in enumerate(lines)}


def ids_by_token(listed: object) -> Mapping[str, int]:
    if not isinstance(listed, dict):
        return {}
    entries = cast("Mapping[str, object]", listed)
    return {token: number for token, number in entries.items() if isinstance(number, int)}


def added_tokens(folder: Path) -> Mapping[str, int]:
    """Return the added tokens of a tokenizer that has no tokenizer.json."""
    listed = json_object(read_regular_file(folder / "added_tokens.json", LARGEST_VOCABULARY))
    added = dict(ids_by_token(listed))
    settings = json_object(read_regular_file(folder / "tokenizer_config.json", LARGEST_VOCABULARY)) or {}
    decoder = settings.get("added_tokens_decoder")
    for number, token in cast("Mapping[str, object]", decoder).items() if isinstance(decoder, dict) else ():
        content = cast("Mapping[str, object]", token).get("content") if isinstance(token, dict) else None
        if isinstance(content, str) and number.isdecimal():
            added[content] = int(number)
    return added


def vocabulary_of(checkpoint: Checkpoint) -> Vocabulary | None:
    return None if checkpoint.folder is None else read_vocabulary(checkpoint.folder)


def same_content(one: Vocabulary, two: Vocabulary) -> bool | None:
    """True where all tokens have the same ids, False where most pieces do not, None where some differ."""
    if not one.pieces or not two.pieces:
        return True if one.content is not None and one.content == two.content else None
    if one.pieces == two.pieces and one.added == two.added:
        return True
    pieces, others = (dict(ids.added) | dict(ids.pieces) for ids in (one, two))
    shared = sum(others.get(piece) == number for piece, number in pieces.items()) / min(len(pieces), len(others))
    return False if shared < OTHER_BELOW else None


def is_same_folder(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except (OSError, ValueError):
        return first == second


def value_of(known: Known[str] | None) -> str | None:
    return None if known is None else known.value
