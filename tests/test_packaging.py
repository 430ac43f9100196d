"""What is shipped, how much it weighs where nothing else is installed, and that it works there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import llm_lsp

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1_000_000

# One worker runs them all, so that the wheel is built once and installed once.
pytestmark = pytest.mark.xdist_group("packaging")


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=cwd,
        env=without_python_settings(os.environ),
        check=False,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )


def without_python_settings(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


class Environment:
    """A virtual environment with nothing in it but pip, if that."""

    def __init__(self, folder: Path, *, pip: bool) -> None:
        made = run(sys.executable, "-m", "venv", *([] if pip else ["--without-pip"]), folder, cwd=folder.parent)
        assert made.returncode == 0, made.stderr
        self.scripts = folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.scripts / "python"
        self.command = self.scripts / "llm-lint"
        asked = run(self.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
        self.packages = Path(asked.stdout.strip())

    def size(self) -> int:
        return sum(path.stat().st_size for path in self.packages.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Environment, int]:
    """An environment with llm-lint and what it needs, and how many bytes they took."""
    environment = Environment(tmp_path_factory.mktemp("installed") / "venv", pip=True)
    before = environment.size()
    done = run(environment.python, "-m", "pip", "install", wheel, cwd=wheel.parent)
    assert done.returncode == 0, done.stderr
    return environment, environment.size() - before


def shipped(folder: Path, root: Path) -> set[str]:
    """The files of a package as they are named in a wheel."""
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix() for path in files}


def test_the_wheel_holds_the_engine_and_the_built_in_rules_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == shipped(ROOT / "llm_lsp", ROOT) | shipped(ROOT / "rules" / "llm_lsp_rules", ROOT / "rules")


def test_the_wheel_names_its_rule_pack_its_command_its_version_and_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        texts = {
            name.partition(".dist-info/")[2]: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }
    assert "[llm_lsp.rules]\nbuiltin = llm_lsp_rules" in texts["entry_points.txt"]
    assert "llm-lint = llm_lsp.__main__:run" in texts["entry_points.txt"]
    assert f"\nVersion: {llm_lsp.__version__}\n" in texts["METADATA"]
    assert "\nLicense-Expression: MIT\n" in texts["METADATA"]
    assert texts["licenses/LICENSE"].startswith("MIT License")


def test_neither_torch_nor_transformers_is_a_dependency_of_the_base(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    assert required
    assert not [line for line in required if "torch" in line or "transformers" in line]


def test_the_base_installs_less_than_40_megabytes(installed: tuple[Environment, int]) -> None:
    _, size = installed
    assert size < 40 * MEGABYTE


def test_the_installed_command_finds_the_faults_of_the_example(installed: tuple[Environment, int]) -> None:
    environment, _ = installed
    done = run(environment.command, "check", "--output-format", "concise", "examples/support-bot", cwd=ROOT)
    assert done.returncode == 1, done.stderr
    assert "LLM101" in done.stdout


def test_running_the_module_is_the_same_as_the_command(installed: tuple[Environment, int]) -> None:
    environment, _ = installed
    command = run(environment.command, "--version", cwd=environment.packages)
    module = run(environment.python, "-m", "llm_lsp", "--version", cwd=environment.packages)
    assert command.returncode == 0, command.stderr
    assert llm_lsp.__version__ in command.stdout
    assert (module.returncode, module.stdout) == (command.returncode, command.stdout)


def test_a_checkout_that_is_not_installed_says_so_and_lints_nothing(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv", pip=False)
    done = run(environment.python, "-m", "llm_lsp", "check", "examples", cwd=ROOT)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "pip install" in done.stderr
