"""The hook, run by the real pre-commit on a small repository; it installs llm-lint from this checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.xdist_group("packaging")

FAULTY = """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
model = AutoModelForCausalLM.from_pretrained("gpt2")
with torch.no_grad():
    print(model(**tokenizer("The cat sat.", return_tensors="pt")).logits.shape)
"""
SOUND = FAULTY.replace("bert-base-cased", "gpt2")


def notebook(source: str) -> str:
    cell: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Ours, without what a surrounding git or pre-commit run leaves in it."""
    config = tmp_path / "gitconfig"
    config.write_text("[user]\nname = A\nemail = a@example.org\n[safe]\ndirectory = *\n", encoding="utf-8")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PRE_COMMIT", "LLM_LINT"))
    }
    return kept | {"GIT_CONFIG_GLOBAL": str(config), "PRE_COMMIT_HOME": str(tmp_path / "cache"), "NO_COLOR": "1"}


def test_the_hook_reports_the_faults_of_python_files_and_notebooks(tmp_path: Path, environment: dict[str, str]) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    files = {
        "faulty.py": FAULTY,
        "faulty.ipynb": notebook(FAULTY),
        "sound.py": SOUND,
        "excluded/faulty.py": FAULTY,
        "pyproject.toml": '[tool.llm-lint]\nexclude = ["excluded"]\n',
        "notes.txt": FAULTY,
    }
    for name, text in files.items():
        path = repository / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for command in (["git", "init", "--quiet"], ["git", "add", "."]):
        subprocess.run(command, cwd=repository, env=environment, check=True, stdin=subprocess.DEVNULL)

    run = subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "llm-lint", "--all-files", "--verbose"],
        cwd=repository,
        env=environment,
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )

    output = run.stdout + run.stderr
    assert run.returncode == 1, output
    reported = [line for line in output.splitlines() if "LLM101" in line]
    assert len(reported) == 2, output
    assert {line.partition(":")[0] for line in reported} == {"faulty.py", "faulty.ipynb"}
