"""The table of known checkpoints that ships with us, read when somebody first asks.

`checkpoints.tsv` is made by `scripts/build_checkpoints.py`. Before its blank line:

    @TEXT                a source; sources are numbered from 0
    ?VOCAB TAB VOCAB...  base vocabularies between which a difference is doubtful
    !FAMILY TAB FAMILY   families of one base vocabulary whose added tokens have other ids

and after it one checkpoint a line:

    ID TAB =ID           another name of a checkpoint
    ID TAB >ID TAB n     a copy: the weights in another format, n its source
    ID TAB ~ID TAB n     it shares the tokenizer of the other, and no more is known
    ID TAB +ID TAB n     an adapter of the other
    ID TAB -ID TAB n     it ships no tokenizer and is used with the one of the other
    ID TAB values TAB confirmed    the fields of `COLUMNS`; confirmed: letter of the field and number of its source
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeVar

from llm_lsp.knowledge.checkpoint import NO_TOKENIZER, Checkpoint, Known
from llm_lsp.named_tuples import NamedTuple

__all__ = ["are_distinct", "are_doubtful", "from_table", "known_ids", "other_names"]

T = TypeVar("T")

UNCONFIRMED: Final = "the shipped table; no file confirms it"
COLUMNS: Final = "tafbvlmepng"

# What makers of copies append to the name of the original. The weights change, the vocabulary does not.
COPY_SUFFIXES: Final = (
    "-unsloth-bnb-4bit",
    "-bnb-4bit",
    "-bnb-8bit",
    "-gptq-int4",
    "-gptq-int8",
    "-gptq-4bit",
    "-gptq-8bit",
    "-gptq",
    "-awq-int4",
    "-awq-4bit",
    "-awq",
    "-gguf",
    "-ggml",
    "-exl2",
    "-hqq",
    "-fp8-dynamic",
    "-fp8",
    "-fp16",
    "-bf16",
    "-int4",
    "-int8",
    "-4bit",
    "-8bit",
    "-quantized.w4a16",
    "-quantized.w8a8",
    "-quantized.w8a16",
)
# Owners who publish copies of other people's checkpoints under the original's own name.
COPY_OWNERS: Final = frozenset(
    {
        "bartowski",
        "casperhansen",
        "ggml-org",
        "hugging-quants",
        "lmstudio-community",
        "maziyarpanahi",
        "mlx-community",
        "modelcloud",
        "neuralmagic",
        "nousresearch",
        "onnx-community",
        "quantfactory",
        "redhatai",
        "solidrust",
        "thebloke",
        "unsloth",
        "xenova",
    }
)


class Table(NamedTuple):
    sources: tuple[str, ...]
    doubtful: tuple[frozenset[str], ...]
    distinct: frozenset[frozenset[str]]
    lines: str
    """The checkpoints, each between two line ends. Searched as text: taking it apart takes 30 times as long."""
    lowered: str
    """The same in lower case. Ids are ASCII, so offsets are the same."""

    def line(self, key: str) -> str | None:
        """The line of an id that is given in lower case."""
        start = -1 if "\t" in key or "\n" in key else self.lowered.find(f"\n{key}\t")
        return None if start < 0 else self.lines[start + 1 : self.lines.index("\n", start + 1)]

    def keys_that_end_in(self, ending: str) -> Iterator[tuple[int, str]]:
        """Where the line of each id that ends so begins, and the id in lower case."""
        found = self.lowered.find(f"{ending}\t")
        while found >= 0:
            start, end = self.lowered.rindex("\n", 0, found) + 1, found + len(ending)
            key = self.lowered[start:end]
            if "\t" not in key:
                yield start, key
            found = self.lowered.find(f"{ending}\t", end)


@lru_cache(maxsize=1)
def table() -> Table:
    text = Path(__file__).with_name("checkpoints.tsv").read_text(encoding="utf-8")
    head, _, body = text.partition("\n\n")
    marked: dict[str, list[str]] = {"#": [], "@": [], "?": [], "!": []}
    for line in head.splitlines():
        marked[line[0]].append(line[1:])
    lines = f"\n{body}"
    return Table(
        sources=tuple(marked["@"]),
        doubtful=tuple(frozenset(line.split("\t")) for line in marked["?"]),
        distinct=frozenset(frozenset(line.split("\t")) for line in marked["!"]),
        lines=lines,
        lowered=lines.lower(),
    )


def from_table(name: str) -> Checkpoint | None:
    """Return what the shipped table knows of a hub id, or None. Case does not matter; nothing is guessed.

    Aliases give the canonical id. A copy (`unsloth/…`, `TheBloke/…-GPTQ`) gives what its original is known for,
    unconfirmed, and without a pad token, which makers of copies change.
    """
    known = table()
    key = name.lower()
    line = known.line(key)
    if line is None:
        original = original_of(key)
        return None if original is None else copy_of(original, name, "its name")
    columns = line.split("\t")
    relation = columns[1][:1]
    if len(columns) == 2:
        return from_table(columns[1][1:])
    if len(columns) == 3:
        return derived(columns[0], relation, columns[1][1:], known.sources[int(columns[2])])
    return full(columns, known.sources)


def full(columns: list[str], sources: tuple[str, ...]) -> Checkpoint:
    name, *values, marks = columns
    confirmed = {mark[0]: sources[int(mark[1:])] for mark in marks.split()}
    known = {
        letter: (value, confirmed.get(letter, UNCONFIRMED), letter in confirmed)
        for letter, value in zip(COLUMNS, values, strict=True)
        if value
    }
    if known["b"][0] == NO_TOKENIZER:
        del known["b"]
    return Checkpoint(
        id=name,
        model_type=text_of(known.get("t")),
        architecture=text_of(known.get("a")),
        tokenizer_family=text_of(known.get("f")),
        base_vocab=text_of(known.get("b")),
        vocab_size=number_of(known.get("v")),
        tokenizer_len=number_of(known.get("l")),
        max_positions=number_of(known.get("m")),
        is_encoder_decoder=flag_of(known.get("e")),
        has_pad_token=flag_of(known.get("p")),
        params_billion=None if "n" not in known else Known(float(known["n"][0]), *known["n"][1:]),
        license_gated=flag_of(known.get("g")),
    )


Entry = tuple[str, str, bool]


def text_of(entry: Entry | None) -> Known[str] | None:
    return None if entry is None else Known(*entry)


def number_of(entry: Entry | None) -> Known[int] | None:
    return None if entry is None else Known(int(entry[0]), entry[1], entry[2])


def flag_of(entry: Entry | None) -> Known[bool] | None:
    return None if entry is None else Known(entry[0] == "y", entry[1], entry[2])


def derived(name: str, relation: str, other: str, source: str) -> Checkpoint | None:
    base = from_table(other)
    if base is None:
        return None
    if relation == ">":
        return copy_of(base, name, source)
    if relation == "+":
        return Checkpoint(id=name, base_model=Known(base.id, source, confirmed=False))
    if relation == "-":
        return Checkpoint(id=name, tokenizer_family=Known(NO_TOKENIZER, source, confirmed=False))
    return Checkpoint(
        id=name,
        tokenizer_family=unconfirmed(base.tokenizer_family, source),
        base_vocab=unconfirmed(base.base_vocab, source),
    )


def copy_of(original: Checkpoint, name: str, source: str) -> Checkpoint:
    source = f"a copy of {original.id}, says {source}"
    return original._replace(
        id=name,
        model_type=unconfirmed(original.model_type, source),
        architecture=unconfirmed(original.architecture, source),
        tokenizer_family=unconfirmed(original.tokenizer_family, source),
        base_vocab=unconfirmed(original.base_vocab, source),
        vocab_size=unconfirmed(original.vocab_size, source),
        tokenizer_len=unconfirmed(original.tokenizer_len, source),
        max_positions=unconfirmed(original.max_positions, source),
        is_encoder_decoder=unconfirmed(original.is_encoder_decoder, source),
        has_pad_token=None,
        params_billion=unconfirmed(original.params_billion, source),
        license_gated=None,
    )


def unconfirmed(known: Known[T] | None, source: str) -> Known[T] | None:
    return None if known is None else Known(known.value, source, confirmed=False)


def original_of(key: str) -> Checkpoint | None:
    """Return what `key`, in lower case, is a copy of by its name alone: only where the name leaves no doubt."""
    owner, _, name = key.rpartition("/")
    stripped = without_copy_suffix(name)
    known = table()
    if not owner or not stripped:
        return None
    if stripped != name and known.line(f"{owner}/{stripped}") is not None:
        return model_of(f"{owner}/{stripped}")
    if owner not in COPY_OWNERS:
        return None
    found = [*known.keys_that_end_in(f"/{stripped}"), *known.keys_that_end_in(f"/{stripped}-hf")]
    candidates = [model_of(candidate) for _, candidate in sorted(found)]
    first = next((candidate for candidate in candidates if candidate is not None), None)
    agree = all(
        candidate is not None
        and first is not None
        and value_of(candidate.tokenizer_family) == value_of(first.tokenizer_family)
        and value_of(candidate.vocab_size) == value_of(first.vocab_size)
        for candidate in candidates
    )
    return first if agree else None


def without_copy_suffix(name: str) -> str:
    suffix = next((suffix for suffix in COPY_SUFFIXES if name.endswith(suffix)), None)
    return name if suffix is None else without_copy_suffix(name.removesuffix(suffix))


def model_of(key: str) -> Checkpoint | None:
    """Return the checkpoint, but not an adapter nor one that is only known by its tokenizer."""
    checkpoint = from_table(key)
    return None if checkpoint is None or checkpoint.vocab_size is None else checkpoint


def value_of(known: Known[T] | None) -> T | None:
    return None if known is None else known.value


def known_ids() -> Iterator[str]:
    """Yield every id of the table as people write it, in order; for completion."""
    for line in table().lines[1:].splitlines():
        yield line.partition("\t")[0]


def other_names(name: str) -> tuple[str, ...]:
    """Return the other ids under which the hub serves the checkpoint `name`; empty for one that is not known."""
    checkpoint = from_table(name)
    if checkpoint is None:
        return ()
    known = table()
    names = [checkpoint.id]
    alias = f"\t={checkpoint.id.lower()}\n"
    end = known.lowered.find(alias)
    while end >= 0:
        names.append(known.lines[known.lines.rindex("\n", 0, end) + 1 : end])
        end = known.lowered.find(alias, end + 1)
    return tuple(other for other in names if other != name)


def are_doubtful(vocab: str, other: str) -> bool:
    """Whether two base vocabularies were never compared, so that their difference must not be claimed."""
    return any(vocab in group and other in group for group in table().doubtful)


def are_distinct(family: str, other: str) -> bool:
    """Whether two tokenizer families of one base vocabulary give the same added tokens other ids."""
    return frozenset((family, other)) in table().distinct
