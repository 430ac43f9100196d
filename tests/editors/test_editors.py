"""Real editors use the server: each shows a diagnostic, applies a quick fix and saves, and runs a code lens if it can.

`make test` installs them where it can (`install.sh`); one that is not there is skipped. `docs/editors.md` says how each
is set up.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PATIENCE = 600

PROGRAM = """\
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer


def main():
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    model = AutoModelForMaskedLM.from_pretrained("bert-base-uncased").eval()
    with torch.no_grad():
        print(model(**tokenizer("text", return_tensors="pt")).logits)


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x)


if __name__ == "__main__":
    main()
"""
"""The tokenizer is that of another model; the class can be run as it is, and has 10 parameters."""
REPAIRED = PROGRAM.replace('"bert-base-cased"', '"bert-base-uncased"')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    (folder / "setup.cfg").touch()
    # What the lens runs, it runs in the environment of these tests, which has torch.
    (folder / "llm-lint.toml").write_text(f"python = {json.dumps(sys.prefix)}\n", encoding="utf-8")
    path = folder / "train é.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return path


def run(command: Sequence[str], file: Path) -> None:
    """Run an editor with a home of its own; its script says what it saw and ends with 0 if that was right."""
    home = file.parent.parent
    names = ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VIM")}
    environment |= dict.fromkeys(names, str(home))
    environment |= {"PYTHON": sys.executable, "FILE": str(file), "RESULT": str(home / "result"), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        command,
        env=environment,
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=PATIENCE,
        check=False,
    )
    result = home / "result"
    said = result.read_text(encoding="utf-8") if result.exists() else done.stdout + done.stderr
    assert done.returncode == 0, said
    assert " passed, 0 failed" in said, said
    assert file.read_text(encoding="utf-8") == REPAIRED


def installed(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; `make test` does that as root on Debian")
    return found


def neovims() -> list[str]:
    """The one of the system, and the one that a Python package brings along."""
    beside = Path(sys.executable).with_name("nvim")
    return list(dict.fromkeys(each for each in (shutil.which("nvim"), str(beside)) if each and Path(each).exists()))


@pytest.mark.parametrize("neovim", neovims() or [None])
def test_neovim(neovim: str | None, file: Path) -> None:
    if neovim is None:
        pytest.skip("nvim is not installed; `make test` does that")
    run([neovim, "--headless", "--clean", "-i", "NONE", "-n", "-S", str(HERE / "neovim.lua")], file)


def emacs_with(package: str) -> str:
    emacs = installed("emacs")
    # Packages of the distribution: without a user's own ones there is nothing else to find them in.
    asked = f'(progn (require \'package) (package-initialize) (kill-emacs (if (locate-library "{package}") 0 1)))'
    if subprocess.run([emacs, "--batch", "--eval", asked], capture_output=True, check=False).returncode:
        pytest.skip(f"Emacs has no {package}")
    return emacs


@pytest.mark.parametrize(("package", "script"), [("eglot", "eglot.el"), ("lsp-mode", "lsp_mode.el")])
def test_emacs(package: str, script: str, file: Path) -> None:
    run([emacs_with(package), "--batch", "-l", str(HERE / script)], file)


def vim_with_ale() -> str:
    vim = installed("vim")
    asked = "if empty(globpath(&packpath, 'pack/*/opt/ale')) | cquit 1 | endif"
    command = [vim, "-Nu", "NONE", "-i", "NONE", "-n", "-es", "-c", asked, "-c", "qall!"]
    if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode:
        pytest.skip("Vim has no ALE")
    return vim


def test_vim_with_ale(file: Path) -> None:
    run([vim_with_ale(), "-Nu", "NONE", "-i", "NONE", "-n", "-es", "-S", str(HERE / "ale.vim")], file)
