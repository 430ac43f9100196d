"""The speed that we promise, measured: `make bench`.

Seconds differ from machine to machine, so every number is set against another one of the same run: bare Python, ruff
and torchfix. Nothing here is a test; the tests look at what `check` imports instead.

The first run downloads trl and the peers into `.cache/bench`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import project

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache" / "bench"
TRL = "trl==1.16.0"
PEERS = ("ruff==0.17.6", "torchfix==0.7.0")

MOST_OVER_BARE_PYTHON = 0.12
MOST_TIMES_RUFF = 16
LEAST_TIMES_TORCHFIX = 25
MOST_MEGABYTES = 150


class Cost(NamedTuple):
    """What one process took, with all processes that it waited for."""

    cpu: float
    """Seconds, user and system."""
    peak: float
    """Megabytes resident at the most."""


def cost(command: Sequence[str | Path], cwd: Path, runs: int, variables: dict[str, str] | None = None) -> Cost:
    """The cheapest of some runs: what else the machine does only ever adds."""
    return min(_once(command, cwd, variables or {}) for _ in range(runs))


def _once(command: Sequence[str | Path], cwd: Path, variables: dict[str, str]) -> Cost:
    # Installers compile what they install; here the first run does, if it may.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LLM_LINT"))}
    # A file, not a pipe: nobody has to be there to read.
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=cwd, env=environment | variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read().decode(errors="replace")
    # What gives up early is fast, and worth nothing.
    if process.returncode not in (0, 1) or "LLM002" in said:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{said}")
    per_megabyte = 1e6 if sys.platform == "darwin" else 1e6 / 1024
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / per_megabyte)


def llm_lint() -> Path:
    return Path(sysconfig.get_path("scripts")) / "llm-lint"


def one_file() -> None:
    """One file of a thousand lines, in a project of five hundred, with the rules there are and with ninety more."""
    with tempfile.TemporaryDirectory() as folder:
        large = project.write_project(Path(folder, "project"), files=500, lines=1_000)
        stand_ins = {"PYTHONPATH": str(project.write_rule_pack(Path(folder, "pack"), rules=90))}
        check: list[str | Path] = [llm_lint(), "check", large]
        bare = cost([sys.executable, "-c", ""], large.parent, runs=20)
        alone = cost(check, large.parent, runs=10)
        crowded = cost(check, large.parent, runs=10, variables=stand_ins)
    print("one file of 1,000 lines, in a project of 500 files: CPU seconds")
    print(f"  bare Python                      {bare.cpu:8.3f}")
    for name, spent in (("llm-lint check", alone), ("llm-lint check, 90 more rules", crowded)):
        over = spent.cpu - bare.cpu
        print(f"  {name:32} {spent.cpu:8.3f}   {over:.3f} over bare Python {verdict(over <= MOST_OVER_BARE_PYTHON)}")
    print(f"  promised: at most {MOST_OVER_BARE_PYTHON} over bare Python")


def a_library() -> None:
    """The sources of trl, beside the two peers."""
    scripts = install_peers()
    with tempfile.TemporaryDirectory() as folder:
        # Copied: below an ignored folder everything is ignored.
        source = Path(folder, "trl")
        shutil.copytree(CACHE / "trl" / "trl", source, ignore=shutil.ignore_patterns("__pycache__"))
        files = list(source.rglob("*.py"))
        lines = sum(len(path.read_bytes().splitlines()) for path in files)
        ours = cost([llm_lint(), "check", "--isolated", "--no-cache", source], source.parent, runs=3)
        ruff = cost([scripts / "ruff", "check", "--isolated", "--no-cache", source], source.parent, runs=5)
        torchfix = cost([scripts / "torchfix", "--select", "ALL", source], source.parent, runs=1)
    print(f"{TRL}, {lines:,} lines in {len(files)} files: CPU seconds")
    print(f"  {PEERS[0] + ' --no-cache':32} {ruff.cpu:8.3f}")
    print(f"  {PEERS[1]:32} {torchfix.cpu:8.3f}")
    print(f"  {'llm-lint check':32} {ours.cpu:8.3f}")
    over, under = ours.cpu / ruff.cpu, torchfix.cpu / ours.cpu
    print(
        f"  times ruff                       {over:8.1f}   at most {MOST_TIMES_RUFF} {verdict(over <= MOST_TIMES_RUFF)}"
    )
    good = under >= LEAST_TIMES_TORCHFIX
    print(f"  times less than torchfix         {under:8.1f}   at least {LEAST_TIMES_TORCHFIX} {verdict(good)}")
    small = ours.peak < MOST_MEGABYTES
    print(f"  peak megabytes                   {ours.peak:8.1f}   under {MOST_MEGABYTES} {verdict(small)}")


def verdict(kept: bool) -> str:
    return "(kept)" if kept else "(BROKEN)"


def install_peers() -> Path:
    """The folder with the peers' commands; trl's sources lie beside it, without what trl needs to run."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    if not (CACHE / "trl").is_dir():
        subprocess.run([*pip, "--no-deps", "--target", CACHE / "trl", TRL], check=True)
    environment = CACHE / "peers"
    scripts = environment / "bin"
    if not (scripts / "torchfix").exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([scripts / "python", *pip[1:], *PEERS], check=True)
    return scripts


if __name__ == "__main__":
    if not hasattr(os, "wait4"):
        sys.exit("the benchmarks need os.wait4, which this system does not have")
    one_file()
    a_library()
