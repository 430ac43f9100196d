"""Models whose constructor or `forward` does what no probe can bear, run by the real worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.probe.worker_process import WORKER, WorkerProcess, wait_for_file, wait_until_gone

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
    done = worker.run(file, wall=2 if status == "timeout" else 60, memory=1_000)
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


@pytest.mark.parametrize("place", ["in_constructor", "in_forward"])
def test_a_run_is_cancelled_at_each_stage(place: str, worker: WorkerProcess, tmp_path: Path) -> None:
    note = tmp_path / "note"
    statement = f"open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(999)"
    file = tmp_path / "model.py"
    file.write_text(
        MODEL.format(**{"in_constructor": "pass", "in_forward": "pass", place: statement}), encoding="utf-8"
    )
    request = worker.ask(file)
    process = int(wait_for_file(note))
    worker.cancel(request)
    assert worker.done(request)["status"] == "cancelled"
    wait_until_gone(process)


def test_a_checkpoint_that_is_not_here_is_asked_for_and_not_fetched(worker: WorkerProcess, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    file = tmp_path / "model.py"
    statement = "from transformers import AutoModel; self.base = AutoModel.from_pretrained('no/such-model')"
    file.write_text(MODEL.format(in_constructor=statement, in_forward="pass"), encoding="utf-8")
    done = worker.run(file)
    assert done["status"] == "needs_args"
    assert "line 10" in done["result"]["problem"]


def test_the_probes_own_files_are_none_of_the_users_even_in_the_workspace(worker: WorkerProcess) -> None:
    """As in a workspace that holds an editor's bundled copy."""
    file = Path(__file__).parents[1] / "models" / "nanogpt.py"
    done = worker.run(file, workspace=str(Path(__file__).parents[2]), target="Block")
    places = {(row["file"], row["line"]) for row in done["result"]["rows"]}
    assert {path for path, _ in places} == {str(file)}
    assert len(places) > 3
