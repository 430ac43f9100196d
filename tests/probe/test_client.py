"""The client keeps a worker, gives it work, and gets over its end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from llm_lsp.probe.client import Probe, Probes
from llm_lsp.probe.protocol import Done, Event, Output, Progress, Ready, Request
from llm_lsp.probe.wording import failure
from tests.probe.worker_process import stand_in, wait_for_file, wait_until_gone

pytestmark = pytest.mark.xdist_group("probe worker")

T = TypeVar("T")
PATIENCE = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stand_in(tmp_path_factory.mktemp("probe"))


def with_probe(folder: Path, work: Callable[[Probe], Awaitable[T]], *options: str, python: str = sys.executable) -> T:
    async def run() -> T:
        probe = Probe(Path(python), options=options, program=folder / "__main__.py")
        try:
            return await asyncio.wait_for(work(probe), PATIENCE)
        finally:
            probe.close(PATIENCE)

    return asyncio.run(run())


def request(folder: Path, text: str, name: str = "program.py") -> Request:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return Request(path, "Net")


def test_what_happens_is_told_in_order(folder: Path, tmp_path: Path) -> None:
    events: list[Event] = []
    done = with_probe(folder, lambda probe: probe.run(request(tmp_path, "print('hello')\nvalue = 7\n"), events.append))
    assert done == Done("ok", {"target": "Net", "value": 7})  # type: ignore[typeddict-unknown-key]
    kinds = [type(event) for event in events]
    assert kinds[:2] == [Progress, Ready]
    assert events[0] == Progress("start", 0, 1)
    assert Output("hello\n") in events


def test_one_worker_answers_all_that_is_asked(folder: Path, tmp_path: Path) -> None:
    async def ask(probe: Probe) -> list[Done]:
        waiting = [probe.run(request(tmp_path, f"value = {n}\n", f"p{n}.py")) for n in range(3)]
        return [
            *await asyncio.gather(*waiting),
            await probe.run(request(tmp_path, "import os\nvalue = os.getppid()\n")),
        ]

    *first, last = with_probe(folder, ask)
    assert [done.result.get("value") for done in first] == [0, 1, 2]
    assert last.status == "ok"


def test_a_task_that_is_cancelled_ends_its_run(folder: Path, tmp_path: Path) -> None:
    note = tmp_path / "note"

    async def ask(probe: Probe) -> int:
        text = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\nwhile True: time.sleep(9)\n"
        task = asyncio.ensure_future(probe.run(request(tmp_path, text)))
        process = int(await asyncio.to_thread(wait_for_file, note))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(wait_until_gone, process)
        return (await probe.run(request(tmp_path, "value = 1\n"))).result.get("value")  # type: ignore[return-value]

    assert with_probe(folder, ask) == 1


def test_another_worker_goes_on_where_one_has_left(folder: Path, tmp_path: Path) -> None:
    async def ask(probe: Probe) -> list[str]:
        statuses: list[str] = []
        for _ in range(2):
            statuses.append((await probe.run(request(tmp_path, "value = 1\n"))).status)
            await asyncio.sleep(0.5)  # by now it has nothing to do any more, and leaves
        return statuses

    assert with_probe(folder, ask, "--idle", "0.1") == ["ok", "ok"]


def test_a_request_that_a_worker_left_undone_is_sent_to_the_next(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(packages))

    async def ask(probe: Probe) -> list[str]:
        first = await probe.run(request(tmp_path, "value = 1\n"))
        (packages / "new-1.0.dist-info").mkdir()
        second = await probe.run(request(tmp_path, "value = 2\n"))
        return [first.status, second.status]

    assert with_probe(folder, ask) == ["ok", "ok"]


def test_a_worker_that_is_killed_costs_one_run(folder: Path, tmp_path: Path) -> None:
    async def ask(probe: Probe) -> list[Done]:
        text = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n"
        return [await probe.run(request(tmp_path, text)), await probe.run(request(tmp_path, "value = 1\n"))]

    first, second = with_probe(folder, ask)
    assert first.status == "crash"
    assert "ended with" in failure(first)
    assert second.status == "ok"


def test_an_interpreter_without_torch_is_named_with_the_way_out(folder: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = with_probe(folder, lambda probe: probe.run(request(tmp_path, "")), python=str(python))
    assert done.status == "no_torch"
    message = failure(done)
    assert message.startswith(f"torch is not installed in {python}: ")
    assert "--python" in message


def test_an_interpreter_that_does_not_start_is_told(folder: Path, tmp_path: Path) -> None:
    done = with_probe(folder, lambda probe: probe.run(request(tmp_path, "")), python=str(tmp_path / "none"))
    assert done.status == "crash"
    assert "can't be started" in failure(done)


def test_an_interpreter_that_prints_at_its_start_is_understood(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('welcome')\n", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    done = with_probe(folder, lambda probe: probe.run(request(tmp_path, "value = 1\n")))
    assert done.status == "ok"


def test_a_probe_for_each_interpreter_and_folder(tmp_path: Path) -> None:
    probes = Probes()
    python = Path(sys.executable)
    assert probes.of(python, tmp_path) is probes.of(python, tmp_path)
    assert probes.of(python, tmp_path) is not probes.of(python, tmp_path / "other")
    probes.close()
