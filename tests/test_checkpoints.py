"""What is known of checkpoints by their names: the shipped table, the hub's cache, and how all sources combine."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import TypeVar

import pytest

from llm_lsp.knowledge import checkpoint_table
from llm_lsp.knowledge.checkpoints import (
    Checkpoint,
    Known,
    default_cache_root,
    from_cache,
    from_table,
    known_ids,
    resolve,
)

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "llm_lsp" / "knowledge" / "checkpoints.tsv"
BERT = {"architectures": ["BertForMaskedLM"], "model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512}


def write(folder: Path, **files: object) -> Path:
    """Write `config={...}` as config.json and so on; a string is written as it is."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def cached(root: Path, name: str, revision: str = "0a1b2c", **files: object) -> Path:
    repository = root / ("models--" + name.replace("/", "--"))
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(revision, encoding="ascii")
    return write(repository / "snapshots" / revision, **files)


def value(known: Known[T] | None) -> T | None:
    return None if known is None else known.value


def known_name(name: str) -> Checkpoint:
    checkpoint = from_table(name)
    assert checkpoint is not None
    return checkpoint


# ---------------------------------------------------------------- the table


def test_the_committed_table_is_what_its_sources_give() -> None:
    script = ROOT / "scripts" / "build_checkpoints.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_table_stays_small() -> None:
    assert TABLE.stat().st_size < 400_000


def test_every_id_of_the_table_is_found() -> None:
    names = list(known_ids())
    assert len(names) > 2000
    assert [name for name in names if from_table(name) is None] == []


def test_the_table_is_ascii_so_that_lower_case_moves_nothing() -> None:
    assert checkpoint_table.table().lines.isascii()


def test_importing_the_checkpoints_reads_no_table_and_no_json() -> None:
    program = (
        "import sys; from llm_lsp.knowledge import checkpoints, checkpoint_table\n"
        "assert checkpoint_table.table.cache_info().currsize == 0, 'read at import'\n"
        "assert 'json' not in sys.modules, 'json at import'\n"
        "assert checkpoints.from_table('gpt2') is not None\n"
        "assert checkpoint_table.table.cache_info().currsize == 1\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_confirmed_field_names_the_file_and_another_one_does_not() -> None:
    bert = known_name("bert-base-uncased")
    assert bert.vocab_size is not None
    assert bert.vocab_size.value == 30522
    assert bert.vocab_size.confirmed
    assert "bert-base-uncased.json" in bert.vocab_size.source
    assert bert.tokenizer_family is not None
    assert not bert.tokenizer_family.confirmed


def test_a_value_that_another_file_contradicts_is_not_confirmed() -> None:
    gemma = known_name("google/gemma-3-12b-it")
    assert gemma.vocab_size is not None
    assert not gemma.vocab_size.confirmed


def test_a_value_that_only_a_default_of_the_library_agrees_with_is_not_confirmed() -> None:
    with (ROOT / "data" / "models" / "models.csv").open(encoding="utf-8", newline="") as file:
        weak = [row["model_id"] for row in csv.DictReader(file) if "vocab_size~" in row["verified_fields"]]
    sizes = [known_name(name).vocab_size for name in weak]
    assert any(size is not None and not size.confirmed for size in sizes)
    # Where one of them is confirmed all the same, a relative's own file does it, not the default.
    assert [size for size in sizes if size is not None and size.confirmed and "default" in size.source] == []


def test_what_no_file_shows_is_blank() -> None:
    for name in known_ids():
        checkpoint = known_name(name)
        assert checkpoint.model_max_length is None
        assert checkpoint.padding_side is None
        assert checkpoint.adds_bos is None
        assert checkpoint.dtype is None
        assert checkpoint.do_sample is None


@pytest.mark.parametrize(
    ("name", "identity"),
    [
        ("google-bert/bert-base-uncased", "bert-base-uncased"),
        ("BERT-base-UNCASED", "bert-base-uncased"),
        ("openai-community/gpt2", "gpt2"),
        ("EleutherAI/gpt-j-6b", "EleutherAI/gpt-j-6B"),
    ],
)
def test_an_id_is_found_by_its_aliases_and_in_any_case(name: str, identity: str) -> None:
    assert known_name(name).id == identity


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("Qwen/Qwen2.5-7B-Instruct-GPTQ-Int4", "Qwen/Qwen2.5-7B-Instruct"),
        ("Qwen/Qwen2.5-7B-Instruct-GGUF", "Qwen/Qwen2.5-7B-Instruct"),
        ("unsloth/yi-6b-bnb-4bit", "01-ai/Yi-6B"),
        ("RedHatAI/Llama-3.3-70B-Instruct-quantized.w8a8", "meta-llama/Llama-3.3-70B-Instruct"),
        ("TheBloke/Mistral-7B-Instruct-v0.1-GGUF", "mistralai/Mistral-7B-Instruct-v0.1"),
    ],
)
def test_a_copy_has_the_vocabulary_of_its_original_but_confirms_nothing(copy: str, original: str) -> None:
    one, other = known_name(copy), known_name(original)
    assert value(one.tokenizer_family) == value(other.tokenizer_family)
    assert value(one.vocab_size) == value(other.vocab_size)
    assert one.vocab_size is not None
    assert not one.vocab_size.confirmed
    assert one.has_pad_token is None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "gpt2/",
        "./gpt2",
        "/gpt2",
        "~/gpt2",
        "gpt2-gguf",  # nobody's copy
        "somebody/gpt2",
        "somebody/Mistral-7B-Instruct-v0.1-GGUF",  # an owner who is not known to publish copies only
        "unsloth/",
        "unsloth/-bnb-4bit",
        "TheBloke/never-heard-of-GPTQ",
        "модель/берт",
        "bert-base-uncased\n",
        "bert-base-uncased\t",
        "#",
        "@0",
        "\0",
        "\ud800",
    ],
)
def test_an_unknown_id_is_not_guessed(name: str) -> None:
    assert from_table(name) is None


def test_copies_are_told_by_name_only_where_all_originals_of_that_name_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def line(name: str, family: str) -> str:
        return f"{name}\tllama\t\t{family}\t{family}\t32000" + "\t" * 7

    rows = (("a/same", "x"), ("b/same", "x"), ("a/other", "x"), ("b/other", "y"))
    lines = "".join(["\n", *(f"{line(name, family)}\n" for name, family in rows)])
    known = checkpoint_table.Table(sources=(), doubtful=(), distinct=frozenset(), lines=lines, lowered=lines.lower())
    monkeypatch.setattr(checkpoint_table, "table", lambda: known)
    assert from_table("unsloth/same-bnb-4bit") is not None
    assert from_table("unsloth/other-bnb-4bit") is None


def test_an_adapter_names_its_base_and_nothing_else() -> None:
    adapter = known_name("timdettmers/guanaco-7b")
    assert value(adapter.base_model) == "huggyllama/llama-7b"
    assert adapter.tokenizer_family is None
    assert adapter.vocab_size is None


# ---------------------------------------------------------------- the hub's cache


def test_the_cache_is_read_at_the_revision_main(tmp_path: Path) -> None:
    snapshot = cached(tmp_path, "google-bert/bert-base-uncased", config=BERT)
    checkpoint = from_cache("google-bert/bert-base-uncased", tmp_path)
    assert checkpoint is not None
    assert checkpoint.folder == snapshot
    assert checkpoint.id == "google-bert/bert-base-uncased"
    assert checkpoint.vocab_size == Known(30522, "the cached google-bert/bert-base-uncased/config.json", confirmed=True)


def test_the_cache_is_searched_under_every_name_of_a_checkpoint(tmp_path: Path) -> None:
    cached(tmp_path, "google-bert/bert-base-uncased", config=BERT)
    assert from_cache("bert-base-uncased", tmp_path) is not None
    assert from_cache("gpt2", tmp_path) is None


def test_files_in_the_cache_may_be_links_to_blobs(tmp_path: Path) -> None:
    snapshot = cached(tmp_path, "me/model")
    blob = tmp_path / "models--me--model" / "blobs" / "abc"
    blob.parent.mkdir()
    blob.write_text(json.dumps(BERT), encoding="utf-8")
    try:
        (snapshot / "config.json").symlink_to(Path("..", "..", "blobs", "abc"))
        (snapshot / "generation_config.json").symlink_to(Path("..", "..", "blobs", "gone"))
    except OSError:
        pytest.skip("no links here")
    checkpoint = from_cache("me/model", tmp_path)
    assert checkpoint is not None
    assert value(checkpoint.vocab_size) == 30522
    assert checkpoint.do_sample is None


def test_without_a_reference_only_a_single_snapshot_counts(tmp_path: Path) -> None:
    snapshots = tmp_path / "models--me--model" / "snapshots"
    write(snapshots / "aaa", config=BERT)
    assert from_cache("me/model", tmp_path) is not None
    write(snapshots / "bbb", config=BERT)
    assert from_cache("me/model", tmp_path) is None


def test_no_name_and_no_reference_leads_out_of_the_cache(tmp_path: Path) -> None:
    write(tmp_path / "outside", config=BERT)
    root = tmp_path / "hub"
    cached(root, "me/model")
    (root / "models--me--model" / "refs" / "main").write_text("../../../outside", encoding="ascii")
    assert from_cache("me/model", root) is None
    for name in ("../outside", "..", "me/..", "me/model/x", "me\\model", "", "/", "me/модель", "\0"):
        assert from_cache(name, root) is None


def test_the_cache_is_where_huggingface_hub_puts_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    home = tmp_path / ".cache" / "huggingface" / "hub"
    assert default_cache_root({}) == home
    assert default_cache_root({"HF_HOME": ""}) == home
    assert default_cache_root({"XDG_CACHE_HOME": "x"}) == Path("x", "huggingface", "hub")
    assert default_cache_root({"XDG_CACHE_HOME": "x", "HF_HOME": "~/h"}) == tmp_path / "h" / "hub"
    assert default_cache_root({"HF_HOME": "h", "HF_HUB_CACHE": "~/c"}) == tmp_path / "c"


# ---------------------------------------------------------------- all together


def test_a_folder_of_the_name_stands_alone(tmp_path: Path) -> None:
    write(tmp_path / "gpt2", config=BERT)
    found = resolve("gpt2", [tmp_path])
    assert found is not None
    assert value(found.model_type) == "bert"
    assert found.tokenizer_family is None
    assert found.id == "gpt2"
    assert found.vocab_size == Known(30522, "gpt2/config.json", confirmed=True)


def test_a_folder_of_the_name_that_is_no_checkpoint_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "gpt2").mkdir()
    assert resolve("gpt2", [tmp_path]) == from_table("gpt2")


def test_the_first_folder_counts(tmp_path: Path) -> None:
    write(tmp_path / "project" / "out", config={"vocab_size": 1})
    write(tmp_path / "file" / "out", config={"vocab_size": 2})
    found = resolve("out", [tmp_path / "file", tmp_path / "project"])
    assert found is not None
    assert value(found.vocab_size) == 2


@pytest.mark.parametrize("name", ["./out", "out/", "./out/", "../{}/out", "out/../out", "ausgabe-ü", "a/b/c"])
def test_paths_are_relative_to_the_folders(tmp_path: Path, name: str) -> None:
    name = name.format(tmp_path.name)
    for folder in ("out", "ausgabe-ü", "a/b/c"):
        write(tmp_path / folder, config=BERT)
    found = resolve(name, [tmp_path])
    assert found is not None
    assert found.id == name


def test_absolute_paths_and_home_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", config=BERT)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert resolve(str(tmp_path / "out"), ["elsewhere"]) is not None
    assert resolve("~/out", ["elsewhere"]) is not None


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "~", "./gpt2", "gpt2/", "C:gpt2", "a\\b", "\0", "\ud800", "x" * 5000]
)
def test_a_path_that_is_not_there_is_unknown(tmp_path: Path, name: str) -> None:
    assert resolve(name, [tmp_path], tmp_path) is None


def test_the_table_fills_what_the_cache_leaves_blank(tmp_path: Path) -> None:
    cached(tmp_path, "google/gemma-3-12b-it", config={"vocab_size": 262208}, tokenizer_config={"padding_side": "left"})
    found = resolve("google/gemma-3-12b-it", [], tmp_path)
    assert found is not None
    assert found.vocab_size is not None
    assert found.vocab_size.confirmed
    assert value(found.padding_side) == "left"
    assert value(found.tokenizer_family) == "gemma3-262k"
    assert resolve("google/gemma-3-12b-it") == from_table("google/gemma-3-12b-it")


def test_an_adapter_in_the_cache_is_not_filled_from_the_table(tmp_path: Path) -> None:
    cached(tmp_path, "gpt2", adapter_config={"base_model_name_or_path": "base"})
    found = resolve("gpt2", [], tmp_path)
    assert found is not None
    assert found.vocab_size is None
    assert value(found.base_model) == "base"
