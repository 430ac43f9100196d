"""Checkpoints on disk: a folder that `save_pretrained` wrote, and the Hugging Face hub's cache.

Files are read as data: broken JSON, wrong types, links that lead nowhere and pipes give blanks and never raise. Nothing
here opens a connection.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeVar, cast

from llm_lsp.knowledge.checkpoint import Checkpoint, Known
from llm_lsp.knowledge.checkpoint_table import from_table, other_names

__all__ = ["default_cache_root", "expanded", "from_cache", "from_folder", "json_object", "read_regular_file"]

T = TypeVar("T")
Json = Mapping[str, object]

LARGEST_SETTINGS: Final = 16_000_000
CHECKPOINT_FILES: Final = (
    "config.json",
    "adapter_config.json",
    "tokenizer_config.json",
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "generation_config.json",
)
POSITIONS: Final = (
    "max_position_embeddings",
    "n_positions",
    "max_encoder_position_embeddings",
    "max_target_positions",
    "max_seq_len",
    "max_sequence_length",
    "seq_length",
)
# Their position table starts after the padding index, so two rows of it are never reached.
PADDED_POSITIONS: Final = frozenset(
    {
        "camembert",
        "data2vec-text",
        "ibert",
        "longformer",
        "luke",
        "mpnet",
        "roberta",
        "xlm-roberta",
        "xlm-roberta-xl",
        "xmod",
    }
)
# Relative, recurrent or extrapolating positions: what their configuration says about a length is no limit.
WITHOUT_LIMIT: Final = frozenset(
    {"bloom", "byt5", "longt5", "mamba", "mamba2", "mpt", "mt5", "rwkv", "switch_transformers", "t5", "umt5", "xlnet"}
)
# With these, `max_position_embeddings` already counts what the scaling gives; with any other kind it may not.
COUNTED_SCALINGS: Final = frozenset({"default", "llama3", "longrope", "mrope", "su"})
# Classes that have no pad token unless a file names one.
WITHOUT_PAD_TOKEN: Final = frozenset(
    {
        "CodeGenTokenizer",
        "CodeGenTokenizerFast",
        "GPT2Tokenizer",
        "GPT2TokenizerFast",
        "GPTNeoXTokenizer",
        "GPTNeoXTokenizerFast",
        "LlamaTokenizer",
        "LlamaTokenizerFast",
        "PreTrainedTokenizerFast",
        "TokenizersBackend",
    }
)


# ---------------------------------------------------------------- a folder


def from_folder(folder: str | Path, name: str | None = None, place: str | None = None) -> Checkpoint | None:
    """Return what the files of a folder say; None where it is no folder or holds no file of a checkpoint.

    `name` becomes the id and `place` is how sources name the folder; both are the folder where nothing is given. The
    tokenizer's own vocabulary is not read: `knowledge.tokenizers` does that when it needs to.
    """
    path = expanded(folder)
    if not any(is_regular_file(path / file) for file in CHECKPOINT_FILES):
        return None
    place = str(folder).rstrip("/\\") if place is None else place
    identity = str(folder) if name is None else name
    adapter = Settings.read(path, "adapter_config.json", place)
    if adapter.exists:
        # What else lies in an adapter's folder says nothing of the model that it is put on.
        return Checkpoint(
            id=identity, folder=path, base_model=adapter.text("base_model_name_or_path") or unnamed(adapter)
        )
    config = Settings.read(path, "config.json", place)
    generation = Settings.read(path, "generation_config.json", place)
    tokenizer = Settings.read(path, "tokenizer_config.json", place)
    special = Settings.read(path, "special_tokens_map.json", place)
    text = config.nested("text_config") or config
    family, vocabulary = inherited(config, text)
    return Checkpoint(
        id=identity,
        folder=path,
        model_type=config.text("model_type"),
        architecture=config.first_of("architectures"),
        tokenizer_family=family,
        base_vocab=vocabulary,
        vocab_size=rows(config, text),
        max_positions=max_positions(text),
        is_encoder_decoder=is_encoder_decoder(config),
        has_pad_token=has_pad_token(tokenizer, special),
        model_max_length=tokenizer.number("model_max_length"),
        padding_side=tokenizer.choice("padding_side", ("left", "right")),
        adds_bos=tokenizer.flag("add_bos_token"),
        dtype=text.text("dtype") or text.text("torch_dtype") or config.text("dtype") or config.text("torch_dtype"),
        do_sample=do_sample(generation, config),
    )


class Settings:
    """The object in one JSON file, asked by key and type; a value of another type is no value."""

    def __init__(self, values: Json, source: str, *, exists: bool) -> None:
        self.values = values
        self.source = source
        self.exists = exists

    @classmethod
    def read(cls, folder: Path, file: str, place: str) -> Settings:
        data = read_regular_file(folder / file, LARGEST_SETTINGS)
        return cls(json_object(data) or {}, f"{place}/{file}", exists=is_regular_file(folder / file))

    def known(self, value: T | None) -> Known[T] | None:
        return None if value is None else Known(value, self.source, confirmed=True)

    def text(self, key: str) -> Known[str] | None:
        value = self.values.get(key)
        return self.known(value) if isinstance(value, str) and value else None

    def choice(self, key: str, choices: tuple[str, ...]) -> Known[str] | None:
        known = self.text(key)
        return known if known is not None and known.value in choices else None

    def flag(self, key: str) -> Known[bool] | None:
        value = self.values.get(key)
        return self.known(value) if isinstance(value, bool) else None

    def number(self, key: str) -> Known[int] | None:
        """Return a positive whole number; `model_max_length` is also written as the float 1e30."""
        value = self.values.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return self.known(value) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None

    def first_of(self, key: str) -> Known[str] | None:
        value = self.values.get(key)
        first = cast("list[object]", value)[0] if isinstance(value, list) and value else None
        return self.known(first) if isinstance(first, str) and first else None

    def nested(self, key: str) -> Settings | None:
        value = self.values.get(key)
        return Settings(cast("Json", value), self.source, exists=True) if isinstance(value, dict) else None


def unnamed(adapter: Settings) -> Known[str]:
    return Known("", adapter.source, confirmed=False)


def rows(config: Settings, text: Settings) -> Known[int] | None:
    kind = config.text("model_type")
    if kind is not None and kind.value in ("vision-encoder-decoder", "speech-encoder-decoder"):
        text = config.nested("decoder") or text
    return text.number("vocab_size") or config.number("vocab_size")


def inherited(config: Settings, text: Settings) -> tuple[Known[str] | None, Known[str] | None]:
    """Return family and base vocabulary of the checkpoint that the configuration was derived from.

    Only where type and number of rows are still the same: a model that was built anew on a borrowed configuration
    usually has another number. Never confirmed.
    """
    origin = config.text("_name_or_path")
    base = None if origin is None else from_table(origin.value)
    kind, size = config.text("model_type"), text.number("vocab_size")
    if base is None or kind is None or size is None or base.model_type is None or base.vocab_size is None:
        return None, None
    if (kind.value, size.value) != (base.model_type.value, base.vocab_size.value):
        return None, None
    source = f"{config.source} names {base.id}"
    family, vocabulary = base.tokenizer_family, base.base_vocab
    return (
        None if family is None else Known(family.value, source, confirmed=False),
        None if vocabulary is None else Known(vocabulary.value, source, confirmed=False),
    )


def max_positions(text: Settings) -> Known[int] | None:
    kind = text.text("model_type")
    if kind is not None and kind.value in WITHOUT_LIMIT:
        return None
    scaling = text.nested("rope_scaling") or text.nested("rope_parameters")
    if scaling is not None and scaling.values:
        scaling_kind = scaling.text("rope_type") or scaling.text("type")
        if scaling_kind is None or scaling_kind.value not in COUNTED_SCALINGS:
            return None
    positions = next((known for known in map(text.number, POSITIONS) if known is not None), None)
    if positions is None or kind is None or kind.value not in PADDED_POSITIONS:
        return positions
    return Known(positions.value - 2, positions.source, confirmed=True) if positions.value > 2 else None


def is_encoder_decoder(config: Settings) -> Known[bool] | None:
    said = config.flag("is_encoder_decoder")
    architecture = config.first_of("architectures")
    if said is None and architecture is not None and architecture.value.endswith("ForCausalLM"):
        return Known(value=False, source=config.source, confirmed=True)
    return said


def has_pad_token(tokenizer: Settings, special: Settings) -> Known[bool] | None:
    for settings in (tokenizer, special):
        token = settings.nested("pad_token")
        if settings.text("pad_token") or (token is not None and token.text("content")):
            return Known(value=True, source=settings.source, confirmed=True)
    kind = tokenizer.text("tokenizer_class")
    without = kind is not None and kind.value in WITHOUT_PAD_TOKEN
    absent = "pad_token" not in tokenizer.values and "pad_token" not in special.values
    said_to_be_none = "pad_token" in tokenizer.values and tokenizer.values["pad_token"] is None
    if said_to_be_none or (absent and without):
        return Known(value=False, source=tokenizer.source, confirmed=True)
    return None


def do_sample(generation: Settings, config: Settings) -> Known[bool] | None:
    said = generation.flag("do_sample")
    if said is None and generation.values and "do_sample" not in generation.values:
        return Known(value=False, source=generation.source, confirmed=True)
    if generation.exists:
        return said
    return config.flag("do_sample")  # before transformers 4.25 the model's configuration held it


# ---------------------------------------------------------------- the hub's cache


def default_cache_root(environment: Mapping[str, str] | None = None) -> Path:
    """Return where the Hugging Face hub keeps its files, as huggingface_hub decides it; the folder may be missing."""
    variables = os.environ if environment is None else environment
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if variables.get(name):
            return expanded(variables[name])
    if variables.get("HF_HOME"):
        return expanded(variables["HF_HOME"]) / "hub"
    return expanded(variables.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface" / "hub"


def from_cache(name: str, root: str | Path) -> Checkpoint | None:
    """Return what the hub's cache in `root` holds of the revision `main` of `name`, or of another name of it."""
    if not os.path.isdir(expanded(root)):  # noqa: PTH112 (`Path.is_dir` raises in a folder that is closed to us)
        return None
    for candidate in (name, *other_names(name)):
        snapshot = snapshot_of(candidate, expanded(root))
        if snapshot is not None:
            found = from_folder(snapshot, name=candidate, place=f"the cached {candidate}")
            if found is not None:
                return found
    return None


def snapshot_of(name: str, root: Path) -> Path | None:
    if not is_hub_id(name):
        return None
    repository = root / ("models--" + name.replace("/", "--"))
    main = read_regular_file(repository / "refs" / "main", 200)
    if main is not None:
        revision = main.decode("ascii", "replace").strip()
        return repository / "snapshots" / revision if revision.isalnum() else None
    try:
        snapshots = list((repository / "snapshots").iterdir())
    except OSError:
        return None
    # Without a reference to `main` it is only clear where there is one snapshot.
    return snapshots[0] if len(snapshots) == 1 else None


def is_hub_id(name: str) -> bool:
    parts = name.split("/")
    return len(parts) <= 2 and all(
        part.isascii() and part.strip(".") and part.replace("-", "").replace("_", "").replace(".", "").isalnum()
        for part in parts
    )


# ---------------------------------------------------------------- files


def expanded(path: str | Path) -> Path:
    """Return the path with `~` replaced, or as it is where nobody knows that home."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def is_regular_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def read_regular_file(path: Path, largest: int) -> bytes | None:
    """Return the content; None for what is missing, no regular file (opening a pipe would wait) or too large."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            return None
        with path.open("rb") as file:
            return file.read(largest)
    except (OSError, ValueError):
        return None


def json_object(data: bytes | None) -> Json | None:
    """Return the object that the bytes hold; None for anything else."""
    if data is None:
        return None
    import json  # only where there is a checkpoint on disk

    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("Json", value) if isinstance(value, dict) else None
