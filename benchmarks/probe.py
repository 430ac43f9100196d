"""What "Check shapes" costs, beside torchinfo on the same models: `python -m benchmarks.probe`.

CPU seconds, for seconds depend on what else a machine does. Warm is a run in a worker that has imported its libraries,
cold is all of `llm-lint probe` from its start to its end.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from threading import Event as Flag
from threading import Thread

from benchmarks.run import CACHE, ROOT, cost, verdict
from llm_lsp.probe.client import Probe
from llm_lsp.probe.protocol import Done, Event, Partial, Request

TORCHINFO = "torchinfo==1.8.0"
MODELS = ROOT / "tests" / "models"
SMALL = MODELS / "nanogpt.py"

MOST_FOR_SHAPES = 0.2
MOST_WARM = 0.35
MOST_COLD = 3.0
MOST_COLD_WITH_TRANSFORMERS = 5.0
MOST_FOR_7B = 2.0
MOST_MEGABYTES_FOR_7B = 100

LLAMA_7B = """\
from transformers import LlamaConfig, LlamaForCausalLM


class Llama(LlamaForCausalLM):
    def __init__(self):
        super().__init__(LlamaConfig())
"""

THEIRS = """\
import sys, time
sys.path[:0] = [{packages!r}, {models!r}]
import torch, torchinfo
{make}
begun = time.process_time()
torchinfo.summary(model, input_data=inputs, verbose=0)
print(time.process_time() - begun)
"""
THEIR_SMALL = (
    "from nanogpt import Block, GPTConfig\n"
    "model, inputs = Block(GPTConfig(n_head=3, n_embd=30)), torch.zeros(2, 13, 30)"
)
THEIR_7B = (
    "from transformers import LlamaConfig, LlamaForCausalLM\n"
    "with torch.device('meta'):\n"
    "    model = LlamaForCausalLM(LlamaConfig())\n"
    "    inputs = torch.zeros(2, 13, dtype=torch.long)"
)


def processor_seconds(process: int) -> float:
    """Of all children of a process that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def own_megabytes(process: str) -> float:
    """What a process has in memory and shares with no other: of a fork, what it has not from its parent."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")) / 1024


def children(process: int) -> list[str]:
    found: list[str] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parent = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            except OSError:
                continue
            if parent == str(process):
                found.append(folder.name)
    return found


class Peak:
    """The most memory that a run takes beside what it has from its worker, looked at while it goes on."""

    def __init__(self, worker: int) -> None:
        self.over = 0.0
        self._worker = worker
        self._stop = Flag()
        self._thread = Thread(target=self._watch)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.is_set():
            for child in children(self._worker):
                try:
                    self.over = max(self.over, own_megabytes(child))
                except OSError:
                    continue
            time.sleep(0.01)


def worker_of_this_process() -> int:
    return int(children(os.getpid())[0])


async def run(probe: Probe, file: Path, target: str) -> tuple[float, float, Done]:
    """CPU seconds until the shapes were known, and in all."""
    until_shapes: list[float] = []

    def hear(event: Event) -> None:
        if isinstance(event, Partial):
            until_shapes.append((event.result.get("timing") or {}).get("cpu_s", 0.0))

    done = await probe.run(Request(file, target, wall_seconds=120), hear)
    if done.status != "ok":
        sys.exit(f"{target}: {done}")
    return (until_shapes or [0.0])[0], (done.result.get("timing") or {}).get("cpu_s", 0.0), done


async def warm(large: Path) -> None:
    probe = Probe(Path(sys.executable))
    await run(probe, SMALL, "MLP")
    for target in ("MLP", "Block"):
        runs = [await run(probe, SMALL, target) for _ in range(5)]
        shapes, whole = median(each[0] for each in runs), median(each[1] for each in runs)
        print(
            f"  warm, nanoGPT's {target:16} {shapes:8.3f} {verdict(shapes <= MOST_FOR_SHAPES)}"
            f"   {whole:.3f} with the oracles {verdict(whole <= MOST_WARM)}"
        )
    await run(probe, large, "Llama")
    await asyncio.sleep(5)  # the worker imports what that run has needed
    worker = worker_of_this_process()
    before = processor_seconds(worker)
    peak = Peak(worker)
    peak.begin()
    _, _, done = await run(probe, large, "Llama")
    peak.end()
    await asyncio.sleep(1)
    spent = processor_seconds(worker) - before
    params = (done.result.get("totals") or {}).get("params") or 0
    print(
        f"  warm, Llama of {params / 1e9:.1f} G parameters {spent:8.3f} {verdict(spent <= MOST_FOR_7B)}"
        f"   {peak.over:.0f} MB of its own {verdict(peak.over <= MOST_MEGABYTES_FOR_7B)}"
    )
    probe.close(10)


def cold(large: Path) -> None:
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "llm_lsp",
        "probe",
        "shape",
        "--json",
        "--python",
        sys.executable,
    ]
    alone = cost([*command, f"{SMALL}:Block"], large.parent, runs=2).cpu
    print(f"  cold, torch alone                {alone:8.3f} {verdict(alone <= MOST_COLD)}")
    torch = cost([sys.executable, "-c", "import torch"], large.parent, runs=2).cpu
    print(f"  import torch alone               {torch:8.3f}   ours is {alone / torch:.1f} times that")
    both = cost([*command, "--time-limit", "120", f"{large}:Llama"], large.parent, runs=2).cpu
    print(f"  cold, with transformers, 7 G     {both:8.3f} {verdict(both <= MOST_COLD_WITH_TRANSFORMERS)}")
    packages = CACHE / "torchinfo"
    if not packages.is_dir():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", packages, TORCHINFO], check=True)
    for name, make, ours in (
        ("nanoGPT's Block, told its arguments", THEIR_SMALL, alone),
        ("Llama of 7 G on meta", THEIR_7B, both),
    ):
        text = THEIRS.format(packages=str(packages), models=str(MODELS), make=make)
        theirs = cost([sys.executable, "-c", text], large.parent, runs=2).cpu
        print(f"  torchinfo, cold, {name:34} {theirs:8.3f}   ours is {ours / theirs:.1f} times that")


if __name__ == "__main__":
    if not Path("/proc/self/status").exists():
        sys.exit("this benchmark reads /proc, which this system does not have")
    with tempfile.TemporaryDirectory() as name:
        large = Path(name, "large.py")
        large.write_text(LLAMA_7B, encoding="utf-8")
        print("check shapes: CPU seconds")
        asyncio.run(warm(large))
        cold(large)
