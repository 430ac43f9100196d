"""What `check` loads, looked at in a process of its own: start-up time, and the promise to run nothing of the user's."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "support-bot"

SLOW = {"importlib.metadata", "jedi", "lsprotocol", "pygls", "rich", "click"}
"""Each takes longer to import than a file takes to lint."""
THE_USERS = {"torch", "transformers", "numpy", "fastapi", "support_bot"}

PROGRAM = """\
import sys
{before}
from llm_lsp.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
with open("loaded.txt", "w", encoding="utf-8") as file:
    file.write("\\n".join(sys.modules))
"""


def loaded(arguments: list[str], folder: Path, before: str = "") -> set[str]:
    """The modules that a run of llm-lint has loaded in the end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(before=before), *arguments],
        cwd=folder,
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert "LLM301" in done.stdout or "Fixed" in done.stdout, done.stdout + done.stderr
    return set((folder / "loaded.txt").read_text(encoding="utf-8").split())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in which every rule runs, and which leaves a trace where anything of it is run."""
    folder = tmp_path / "project"
    shutil.copytree(EXAMPLE, folder)
    trace = 'from pathlib import Path\nPath(__file__).with_name("trace").touch()\n'
    (folder / "support_bot" / "__init__.py").write_text(trace, encoding="utf-8")
    for name in ("torch", "transformers", "numpy", "fastapi"):
        (folder / f"{name}.py").write_text(trace, encoding="utf-8")
    interpreter = folder / ".venv" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.write_text('#!/bin/sh\ntouch "$(dirname "$0")/trace"\n', encoding="utf-8")
    interpreter.chmod(0o755)
    (folder / ".venv" / "pyvenv.cfg").write_text("version = 3.12.0\n", encoding="utf-8")
    return folder


def test_check_loads_nothing_slow_and_nothing_of_the_users(project: Path) -> None:
    modules = loaded(["check", "--output-format", "concise"], project)
    assert modules & (SLOW | THE_USERS | {"libcst"}) == set()


def test_fixing_loads_nothing_slow_and_nothing_of_the_users(project: Path) -> None:
    modules = loaded(["check", "--fix", "--unsafe-fixes", "--show-fixes"], project)
    assert modules & (SLOW | THE_USERS) == set()


def test_a_class_that_jedi_finds_is_found_in_a_process_of_its_own(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LLM_LINT_CACHE_DIR", str(tmp_path / "cache"))
    company = project / ".venv" / "lib" / "python3.12" / "site-packages" / "company"
    company.mkdir(parents=True)
    (company / "__init__.py").write_text("from . import gpt\nGPT = (lambda: gpt.GPT)()\n", encoding="utf-8")
    (company / "gpt.py").write_text("from torch import nn\nclass GPT(nn.Module): ...\n", encoding="utf-8")
    program = (
        "import torch\nfrom company import GPT\nmodel = GPT()\nmodel.eval()\nprint(model(torch.ones(1)).argmax())\n"
    )
    (project / "own.py").write_text(program, encoding="utf-8")
    modules = loaded(["check", "--output-format", "concise", "own.py"], project)
    assert "llm_lsp.definitions" in modules
    assert modules & (SLOW | THE_USERS) == set()


@pytest.mark.parametrize("name", [*sorted(SLOW - {"jedi", "rich", "click"}), "libcst"])
def test_a_slow_module_would_be_seen(name: str, project: Path) -> None:
    assert name in loaded(["check", "--output-format", "concise"], project, before=f"import {name}")


def test_neither_a_module_nor_an_interpreter_of_the_project_is_run(project: Path) -> None:
    loaded(["check", "--fix", "--unsafe-fixes", "--show-fixes"], project)
    assert list(project.rglob("trace")) == []


def test_a_module_of_the_project_that_is_run_would_leave_its_trace(project: Path) -> None:
    loaded(["check"], project, before="import support_bot")
    assert [path.parent.name for path in project.rglob("trace")] == ["support_bot"]
