"""What `check` loads before it prints: each module here costs more than it gives, on every commit of every user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACK = Path(__file__).resolve().with_name("demo_pack")

BANNED = frozenset(
    {
        "dataclasses",
        "difflib",
        "importlib.metadata",
        "inspect",
        "jedi",
        "json",
        "libcst",
        "lsprotocol",
        "packaging",
        "pygls",
        "shutil",
        "subprocess",
        "tempfile",
        "textwrap",
        "tomllib",
        "torch",
        "transformers",
        "unicodedata",
        "xml",
    }
)

PROGRAM = """
import sys
{first}
from llm_lsp.cli import main
code = main(sys.argv[1:])
print(*sorted(sys.modules), sep=",", file=sys.stderr)
sys.exit(code)
"""


def loaded(folder: Path, *arguments: str, first: str = "") -> set[str]:
    """The modules that one run has loaded, without those that Python loads by itself."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "rules"), str(PACK)])}
    command = [sys.executable, "-c", PROGRAM.format(first=first), "check", "--isolated", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", env=environment, check=False)
    assert done.returncode in (0, 1), done.stderr
    bare = subprocess.run(
        [sys.executable, "-c", "import json, sys; print(json.dumps([*sys.modules]))"],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        check=True,
    )
    own = set(json.loads(bare.stdout)) - {"json"}
    return set(done.stderr.strip().split("\n")[-1].split(",")) - own


def test_a_clean_file_loads_nothing_that_is_not_needed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nx = 1\n", encoding="utf-8")
    own = {"facts", "rule", "logical_lines", "setting_kinds", "toml", "knowledge.checkpoints", "fixes"}
    assert loaded(tmp_path) & (BANNED | {"demo_rules.words", *(f"llm_lsp.{name}" for name in own)}) == set()


def test_a_report_loads_the_rules_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nx = LOUD\n", encoding="utf-8")
    modules = loaded(tmp_path)
    assert "demo_rules.words" in modules
    assert modules & BANNED == set()


@pytest.mark.parametrize("module", ["dataclasses", "inspect", "json", "tempfile", "xml"])
def test_the_list_would_show_a_module_that_is_loaded(tmp_path: Path, module: str) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    assert module in loaded(tmp_path, first=f"import {module}") & BANNED


def test_json_is_loaded_for_json(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", encoding="utf-8")
    assert "json" in loaded(tmp_path, "--output-format", "json")


@pytest.mark.parametrize(("text", "code"), [("x = 1\n", 0), ("x = LOUD\n", 1), (None, 2)])
def test_the_process_ends_with_everything_said_and_the_right_code(tmp_path: Path, text: str | None, code: int) -> None:
    if text is not None:
        (tmp_path / "a.py").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "rules"), str(PACK)])}
    command = [sys.executable, "-m", "llm_lsp", "check", "--isolated", "a.py"]
    # Into files, which are not flushed line by line.
    with (tmp_path / "out").open("w+b") as out, (tmp_path / "err").open("w+b") as err:
        done = subprocess.run(command, cwd=tmp_path, stdout=out, stderr=err, env=environment, check=False)
    said = (tmp_path / "out").read_text(encoding="utf-8"), (tmp_path / "err").read_text(encoding="utf-8")
    assert done.returncode == code
    assert [bool(each) for each in said] == [code < 2, code == 2]
    assert "".join(said).endswith(".\n" if code < 2 else "; nothing was linted\n")


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that takes nothing")
def test_an_output_that_can_not_be_written_is_a_failure() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with FULL.open("wb") as full:
        command = [sys.executable, "-m", "llm_lsp", "--help"]
        done = subprocess.run(command, cwd=ROOT, stdout=full, env=environment, check=False)
    assert done.returncode == 2


def test_the_process_does_not_take_its_memory_apart(tmp_path: Path) -> None:
    # Python calls these before it does that.
    witness = "import atexit\n\natexit.register(print, 'taken apart')\n"
    (tmp_path / "sitecustomize.py").write_text(witness, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    said = [
        subprocess.run([sys.executable, *command], capture_output=True, encoding="utf-8", env=environment, check=True)
        for command in (["-c", "pass"], ["-m", "llm_lsp", "--version"])
    ]
    assert ["taken apart" in done.stdout for done in said] == [True, False]
