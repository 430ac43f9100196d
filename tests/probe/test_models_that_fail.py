"""Models whose constructor or `forward` does what no probe can bear, run by the real worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.probe.worker_process import WORKER, WorkerProcess

pytestmark = pytest.mark.xdist_group("probe worker")

MODEL = """\
import ctypes, os, sys, time
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.first = nn.Linear(width, width)
        {in_constructor}

    def forward(self, x):
        {in_forward}
        return self.first(x)
"""


@pytest.fixture(scope="module")
def worker() -> Iterator[WorkerProcess]:
    process = WorkerProcess(WORKER)
    yield process
    process.close()


@pytest.mark.parametrize("place", ["in_constructor", "in_forward"])
@pytest.mark.parametrize(
    ("statement", "status", "words"),
    [
        ("x = torch.ones(1_000_000_000, dtype=torch.float64, device='cpu').sum().item()", "memory", "MB were wanted"),
        ("while True: time.sleep(9)", "timeout", "stopped after 2 s"),
        ("ctypes.string_at(0)", "crash", "SIGSEGV"),
        ("os._exit(4)", "crash", "exit code 4"),
        ("sys.exit(4)", "exit", "exit(4)"),
    ],
)
def test_what_a_model_must_not_do_has_an_outcome(
    place: str, statement: str, status: str, words: str, worker: WorkerProcess, tmp_path: Path
) -> None:
    statements = {"in_constructor": "pass", "in_forward": "pass", place: statement}
    file = tmp_path / "model.py"
    file.write_text(MODEL.format(**statements), encoding="utf-8")
    done = worker.run(file, wall=2, memory=1_000)
    assert done["status"] == status
    assert done["result"]["target"] == "Net"
    error = done["result"]["error"]
    assert words in error["message"]
    if status in ("timeout", "crash") and "os._exit" not in statement:
        line = 10 if place == "in_constructor" else 13
        assert (error["frames"][-1]["file"], error["frames"][-1]["line"]) == (str(file), line)


def test_a_model_that_is_well_is_run_after_all_that(worker: WorkerProcess, tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(MODEL.format(in_constructor="pass", in_forward="pass"), encoding="utf-8")
    assert worker.run(file)["status"] == "ok"
