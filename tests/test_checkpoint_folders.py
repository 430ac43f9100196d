"""What the files of a checkpoint's folder say, and whether two folders have one tokenizer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TypeVar

import pytest

from llm_lsp.knowledge.checkpoints import (
    Checkpoint,
    Known,
    compare_tokenizers,
    from_folder,
    from_table,
    same_tokenizer,
)

T = TypeVar("T")
BERT = {"architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512}


def write(folder: Path, **files: object) -> Path:
    """Write `config={...}` as config.json and so on; a string is written as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def tokenizer_json(pieces: list[str], added: tuple[str, ...] = ()) -> dict[str, object]:
    return {
        "model": {"type": "BPE", "vocab": {piece: number for number, piece in enumerate(pieces)}},
        "added_tokens": [{"id": len(pieces) + number, "content": token} for number, token in enumerate(added)],
    }


def value(known: Known[T] | None) -> T | None:
    return None if known is None else known.value


def known_folder(folder: Path | str) -> Checkpoint:
    checkpoint = from_folder(folder)
    assert checkpoint is not None
    return checkpoint


def known_name(name: str) -> Checkpoint:
    checkpoint = from_table(name)
    assert checkpoint is not None
    return checkpoint


# ---------------------------------------------------------------- folders


def test_a_folder_says_what_its_files_say(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "out",
        config=BERT | {"is_encoder_decoder": False, "torch_dtype": "float32"},
        generation_config={"do_sample": True},
        tokenizer_config={"model_max_length": 512, "padding_side": "left", "add_bos_token": True, "pad_token": "[PAD]"},
    )
    checkpoint = known_folder(folder)
    assert checkpoint.id == str(folder)
    assert checkpoint.folder == folder
    assert value(checkpoint.model_type) == "bert"
    assert value(checkpoint.architecture) == "BertForMaskedLM"
    assert checkpoint.vocab_size == Known(30522, f"{folder}/config.json", confirmed=True)
    assert value(checkpoint.max_positions) == 512
    assert value(checkpoint.is_encoder_decoder) is False
    assert value(checkpoint.dtype) == "float32"
    assert value(checkpoint.do_sample) is True
    assert value(checkpoint.model_max_length) == 512
    assert value(checkpoint.padding_side) == "left"
    assert value(checkpoint.adds_bos) is True
    assert value(checkpoint.has_pad_token) is True
    assert checkpoint.tokenizer_family is None


def test_a_multimodal_configuration_is_read_where_its_text_is(tmp_path: Path) -> None:
    text = {"vocab_size": 32064, "max_position_embeddings": 4096, "model_type": "llama", "dtype": "bfloat16"}
    checkpoint = known_folder(write(tmp_path / "m", config={"model_type": "llava", "text_config": text}))
    assert value(checkpoint.model_type) == "llava"
    assert value(checkpoint.vocab_size) == 32064
    assert value(checkpoint.max_positions) == 4096
    assert value(checkpoint.dtype) == "bfloat16"


def test_an_image_captioner_has_the_rows_of_its_decoder(tmp_path: Path) -> None:
    config = {"model_type": "vision-encoder-decoder", "decoder": {"vocab_size": 50257}, "encoder": {"vocab_size": 3}}
    assert value(known_folder(write(tmp_path / "m", config=config)).vocab_size) == 50257


@pytest.mark.parametrize(
    ("config", "positions"),
    [
        ({"model_type": "roberta", "max_position_embeddings": 514}, 512),
        ({"model_type": "gpt2", "n_positions": 1024}, 1024),
        ({"model_type": "t5", "n_positions": 512}, None),
        ({"model_type": "whisper", "max_target_positions": 448}, 448),
        (
            {"model_type": "llama", "max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 4}},
            None,
        ),
        ({"model_type": "llama", "max_position_embeddings": 131072, "rope_scaling": {"rope_type": "llama3"}}, 131072),
        ({"model_type": "llama", "max_position_embeddings": 4096, "rope_scaling": None}, 4096),
    ],
)
def test_the_context_is_what_the_model_can_take(tmp_path: Path, config: object, positions: int | None) -> None:
    assert value(known_folder(write(tmp_path / "m", config=config)).max_positions) == positions


@pytest.mark.parametrize(
    ("tokenizer", "special", "has_pad"),
    [
        ({"pad_token": "<pad>"}, {}, True),
        ({"pad_token": {"content": "<pad>", "lstrip": False}}, {}, True),
        ({}, {"pad_token": {"content": "<pad>"}}, True),
        ({"pad_token": None}, {"pad_token": "<pad>"}, True),
        ({"pad_token": None}, {}, False),
        ({"tokenizer_class": "GPT2Tokenizer"}, {}, False),
        ({"tokenizer_class": "BertTokenizer"}, {}, None),  # the class brings one
        ({"tokenizer_class": "GPT2Tokenizer", "pad_token": 3}, {}, None),
        ({}, {}, None),
    ],
)
def test_a_pad_token_is_there_or_not_or_unknown(
    tmp_path: Path, tokenizer: object, special: object, has_pad: bool | None
) -> None:
    folder = write(tmp_path / "m", tokenizer_config=tokenizer, special_tokens_map=special)
    assert value(known_folder(folder).has_pad_token) is has_pad


@pytest.mark.parametrize(
    ("files", "samples"),
    [
        ({"generation_config": {"do_sample": True}}, True),
        ({"generation_config": {"max_length": 20}}, False),
        ({"generation_config": "{broken", "config": {"do_sample": True}}, None),
        ({"config": {"do_sample": True}}, True),
        ({"config": BERT}, None),
    ],
)
def test_sampling_is_what_the_generation_settings_say(
    tmp_path: Path, files: dict[str, object], samples: bool | None
) -> None:
    assert value(known_folder(write(tmp_path / "m", **files)).do_sample) is samples


def test_a_length_that_means_no_limit_is_kept_as_written(tmp_path: Path) -> None:
    for number in ("1e30", "1000000000000000019884624838656"):
        folder = write(tmp_path / number[:4], tokenizer_config=f'{{"model_max_length": {number}}}')
        length = known_folder(folder).model_max_length
        assert length is not None
        assert length.value > 10**20


HOSTILE = ("", "{", "[]", "null", "3", '"text"', "[" * 100_000, '{"number": ' + "9" * 5000 + "}", "\ufeff{}", "NaN")


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_a_broken_file_gives_blanks(tmp_path: Path, content: str) -> None:
    names = (
        "config",
        "generation_config",
        "tokenizer_config",
        "special_tokens_map",
        "tokenizer",
        "added_tokens",
        "vocab",
    )
    checkpoint = known_folder(write(tmp_path / "m", **dict.fromkeys(names, content)))
    assert (checkpoint.model_type, checkpoint.vocab_size, checkpoint.do_sample) == (None, None, None)
    assert same_tokenizer(checkpoint, known_name("gpt2")) is None


KEYS = (
    "vocab_size",
    "max_position_embeddings",
    "model_type",
    "architectures",
    "text_config",
    "rope_scaling",
    "decoder",
    "_name_or_path",
    "model_max_length",
    "padding_side",
    "pad_token",
    "add_bos_token",
    "added_tokens_decoder",
    "model",
    "do_sample",
)


@pytest.mark.parametrize("wrong", [None, "text", "", -3, 0, 1.5, True, [], [1], ["x"], {}, {"content": 3}, 1e400])
def test_a_value_of_another_type_is_a_blank(tmp_path: Path, wrong: object) -> None:
    content = dict.fromkeys(KEYS, wrong)
    names = ("config", "generation_config", "tokenizer_config", "special_tokens_map", "tokenizer", "added_tokens")
    checkpoint = known_folder(write(tmp_path / "m", **dict.fromkeys(names, content)))
    assert checkpoint.vocab_size is None
    assert checkpoint.max_positions is None
    assert checkpoint.padding_side is None
    assert same_tokenizer(checkpoint, known_name("gpt2")) is None


def test_bytes_that_are_no_text_give_blanks(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "vocab.txt"):
        (folder / name).write_bytes(b"\xff\xfe\x00\x80")
    assert known_folder(folder).model_type is None


def test_a_folder_without_a_file_of_a_checkpoint_is_none(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("", encoding="utf-8")
    (tmp_path / "config.json").mkdir()
    assert from_folder(tmp_path) is None
    assert from_folder(tmp_path / "missing") is None
    assert from_folder(tmp_path / "train.py") is None
    assert from_folder("") is None
    assert from_folder("\0") is None
    assert from_folder("x" * 5000) is None
    assert from_folder("~nobody-has-this-name/x") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    write(tmp_path / "m", tokenizer_config={"padding_side": "left"})
    os.mkfifo(tmp_path / "m" / "config.json")
    assert value(known_folder(tmp_path / "m").padding_side) == "left"


def test_an_adapter_folder_names_its_base(tmp_path: Path) -> None:
    folder = write(tmp_path / "m", adapter_config={"base_model_name_or_path": "gpt2"}, tokenizer=tokenizer_json(["a"]))
    adapter = known_folder(folder)
    assert value(adapter.base_model) == "gpt2"
    assert same_tokenizer(adapter, known_name("bert-base-uncased")) is None
    assert same_tokenizer(known_name("bert-base-uncased"), adapter) is None
    assert same_tokenizer(known_folder(write(tmp_path / "b", adapter_config="{")), known_name("gpt2")) is None


# ---------------------------------------------------------------- tokenizers of folders


def test_folders_are_compared_by_what_their_tokenizers_hold(tmp_path: Path) -> None:
    letters, others = [f"piece{number}" for number in range(100)], [f"other{number}" for number in range(100)]
    config = {"model_type": "gpt2", "vocab_size": 110}
    one = known_folder(write(tmp_path / "one", config=config, tokenizer=tokenizer_json(letters)))
    two = known_folder(write(tmp_path / "two", config=config, tokenizer=tokenizer_json(letters)))
    more = known_folder(write(tmp_path / "more", config=config, tokenizer=tokenizer_json(letters, ("<pad>",))))
    shifted = known_folder(write(tmp_path / "shifted", config=config, tokenizer=tokenizer_json(["<x>", *letters])))
    other = known_folder(write(tmp_path / "other", config=config, tokenizer=tokenizer_json(others)))
    assert same_tokenizer(one, two) is True
    assert same_tokenizer(one, more) is None
    assert same_tokenizer(one, shifted) is False
    assert same_tokenizer(one, other) is False
    assert not compare_tokenizers(one, other).out_of_range
    assert compare_tokenizers(one, other).certain


def test_more_tokens_than_rows_are_out_of_range_whatever_the_pieces_are(tmp_path: Path) -> None:
    pieces = [f"piece{number}" for number in range(100)]
    tokenizer = known_folder(write(tmp_path / "t", tokenizer=tokenizer_json(pieces, ("<pad>", "piece3"))))
    model = known_folder(write(tmp_path / "m", config={"vocab_size": 100}))
    comparison = compare_tokenizers(tokenizer, model)
    assert (comparison.same, comparison.certain, comparison.out_of_range) == (False, True, True)
    assert value(comparison.tokenizer_size) == 101  # an added token that is a piece is counted once
    fits = compare_tokenizers(tokenizer, known_folder(write(tmp_path / "fits", config={"vocab_size": 101})))
    assert (fits.same, fits.certain, fits.out_of_range) == (None, False, False)


def test_a_known_tokenizer_with_more_tokens_than_a_folder_has_rows_is_wrong(tmp_path: Path) -> None:
    model = known_folder(write(tmp_path / "m", config=BERT | {"vocab_size": 28996}))
    comparison = compare_tokenizers(known_name("bert-base-uncased"), model)
    assert (comparison.same, comparison.certain) == (False, True)
    assert compare_tokenizers(known_name("bert-base-cased"), model).same is None


def test_a_folder_is_its_own_tokenizer_whatever_the_sizes(tmp_path: Path) -> None:
    folder = write(tmp_path / "m", config={"vocab_size": 2}, tokenizer=tokenizer_json(["a", "b", "c"]))
    assert same_tokenizer(known_folder(folder), known_folder(str(folder) + "/")) is True


def test_the_tokens_that_an_adapter_brings_are_not_held_against_the_model(tmp_path: Path) -> None:
    pieces = tokenizer_json(["a", "b", "c"])
    adapter = known_folder(write(tmp_path / "a", adapter_config={"base_model_name_or_path": "gpt2"}, tokenizer=pieces))
    model = known_folder(write(tmp_path / "m", config={"vocab_size": 2}))
    assert same_tokenizer(adapter, model) is None


def test_a_broken_tokenizer_file_leaves_the_others_to_count(tmp_path: Path) -> None:
    model = known_folder(write(tmp_path / "m", config={"vocab_size": 1}))
    folder = write(tmp_path / "t", tokenizer="{broken", vocab={"a": 0, "b": 1})
    assert value(compare_tokenizers(known_folder(folder), model).tokenizer_size) == 2


def test_vocabularies_in_every_format_are_counted(tmp_path: Path) -> None:
    model = known_folder(write(tmp_path / "m", config={"vocab_size": 1}))
    lines = write(tmp_path / "lines", added_tokens={"<new>": 3})
    (lines / "vocab.txt").write_bytes("[PAD]\r\nhé\r\n\u2028\r\n".encode())
    slow = write(
        tmp_path / "slow", vocab={"a": 0, "b": 1}, tokenizer_config={"added_tokens_decoder": {"2": {"content": "<s>"}}}
    )
    unigram = write(
        tmp_path / "unigram", tokenizer={"model": {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.5]]}}
    )
    sizes = [value(compare_tokenizers(known_folder(folder), model).tokenizer_size) for folder in (lines, slow, unigram)]
    assert sizes == [4, 3, 2]


def test_a_sentencepiece_file_tells_only_whether_it_is_the_same(tmp_path: Path) -> None:
    one, two, other = (write(tmp_path / name, config={"vocab_size": 9}) for name in ("one", "two", "other"))
    for folder, content in ((one, b"same"), (two, b"same"), (other, b"different")):
        (folder / "tokenizer.model").write_bytes(content)
    assert same_tokenizer(known_folder(one), known_folder(two)) is True
    assert same_tokenizer(known_folder(one), known_folder(other)) is None


def test_a_vocabulary_that_changes_on_disk_is_read_again(tmp_path: Path) -> None:
    model = known_folder(write(tmp_path / "m", config={"vocab_size": 9}))
    for size in (3, 4):
        folder = write(tmp_path / "t", tokenizer=tokenizer_json(["a", "b", "c", "d"][:size]))
        assert value(compare_tokenizers(known_folder(folder), model).tokenizer_size) == size


def test_a_fine_tune_on_disk_has_the_vocabulary_of_the_checkpoint_that_it_names(tmp_path: Path) -> None:
    derived = BERT | {"_name_or_path": "google-bert/bert-base-uncased"}
    model = known_folder(write(tmp_path / "m", config=derived))
    assert same_tokenizer(known_name("distilbert-base-uncased"), model) is True
    wrong = compare_tokenizers(known_name("bert-base-cased"), model)
    assert wrong.same is False
    resized = known_folder(write(tmp_path / "resized", config=derived | {"vocab_size": 8000}))
    assert resized.tokenizer_family is None
