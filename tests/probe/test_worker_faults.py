"""Whatever a program does, its run ends with a clear outcome, leaves nothing behind, and the worker goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.probe.worker_process import WorkerProcess, stand_in, wait_for_file, wait_until_gone

# One process runs them all, so that torch is imported once for each kind of worker and not for each test.
pytestmark = pytest.mark.xdist_group("probe worker")

Start = Callable[..., WorkerProcess]

WORKER = Path(__file__).resolve().parents[2] / "llm_lsp" / "probe" / "worker" / "__main__.py"

FORKS = pytest.param((), id="fork", marks=pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux"))
SPARES = pytest.param(("--no-fork",), id="spare")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stand_in(tmp_path_factory.mktemp("probe"))


@pytest.fixture(scope="module")
def worker(folder: Path) -> Iterator[WorkerProcess]:
    """The kind that this system has."""
    process = WorkerProcess(folder)
    yield process
    process.close()
    assert process.process.returncode == 0


@pytest.fixture(scope="module")
def spare_worker(folder: Path) -> Iterator[WorkerProcess]:
    """The kind for systems without forks."""
    process = WorkerProcess(folder, "--no-fork")
    yield process
    process.close()
    assert process.process.returncode == 0


@pytest.fixture(params=["worker", "spare_worker"])
def either_worker(request: pytest.FixtureRequest) -> WorkerProcess:
    """Both, where they do something in different ways."""
    found: WorkerProcess = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def start(folder: Path) -> Iterator[Callable[..., WorkerProcess]]:
    """Starts workers that a test may end."""
    started: list[WorkerProcess] = []

    def start(*arguments: str, **more: Any) -> WorkerProcess:  # noqa: ANN401 (of a process)
        started.append(WorkerProcess(folder, *arguments, **more))
        return started[-1]

    yield start
    for process in started:
        process.close()


@pytest.fixture
def own_worker(start: Start) -> WorkerProcess:
    """One that a test may end."""
    return start()


def program(folder: Path, text: str, name: str = "program.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def failure(done: dict[str, Any]) -> tuple[str, str]:
    return done["status"], done["result"]["error"]["message"]


# ---------------------------------------------------------------- what goes well


def test_a_program_that_does_nothing_odd_is_answered(either_worker: WorkerProcess, tmp_path: Path) -> None:
    done = either_worker.run(program(tmp_path, "value = 7\n"))
    assert done == {"id": done["id"], "event": "done", "status": "ok", "result": {"target": "Net", "value": 7}}
    assert either_worker.of(done["id"], "result")[0]["result"] == {"target": "Net"}


def test_progress_is_told_at_most_ten_times_a_second(worker: WorkerProcess, tmp_path: Path) -> None:
    done = worker.run(program(tmp_path, "value = 7\n"))
    told = worker.of(done["id"], "progress")
    assert 1 <= len(told) < 100
    assert (told[0]["stage"], told[0]["total"]) == ("import", 1000)


def test_a_run_sees_the_text_that_the_file_has_now(worker: WorkerProcess, tmp_path: Path) -> None:
    for number in range(3):
        assert worker.run(program(tmp_path, f"value = {number}\n"))["result"]["value"] == number


def test_nothing_is_left_in_the_users_folder(worker: WorkerProcess, tmp_path: Path) -> None:
    program(tmp_path, "value = 1\n", "neighbour.py")
    text = f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nfrom neighbour import value\n"
    assert worker.run(program(tmp_path, text))["result"]["value"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["neighbour.py", "program.py"]


def test_modules_of_the_worker_hide_none_of_the_users(either_worker: WorkerProcess, tmp_path: Path) -> None:
    program(tmp_path, "value = 'mine'\n", "serve.py")
    text = f"import sys\nsys.path.append({str(tmp_path)!r})\nfrom serve import value\n"
    assert either_worker.run(program(tmp_path, text))["result"]["value"] == "mine"


def test_two_runs_at_once_each_get_their_own_answer(either_worker: WorkerProcess, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    waiting = f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.01)\nvalue = 'first'\n"
    first = either_worker.ask(program(tmp_path, waiting, "first.py"))
    second = either_worker.run(program(tmp_path, f"open({str(flag)!r}, 'w').close()\nvalue = 'second'\n", "second.py"))
    assert second["result"]["value"] == "second"
    assert either_worker.done(first)["result"]["value"] == "first"


def test_more_runs_than_there_is_room_for_wait(worker: WorkerProcess, tmp_path: Path) -> None:
    requests = [worker.ask(program(tmp_path, f"value = {n}\n", f"p{n}.py")) for n in range(5)]
    assert [worker.done(request)["result"]["value"] for request in requests] == [0, 1, 2, 3, 4]


# ---------------------------------------------------------------- programs that don't end


LOOP = "def spin():\n    while True:\n        pass\n\nspin()\n"
LONG_CALL = "import torch\nx = torch.randn(6000, 6000)\nfor _ in range(10_000):\n    x @ x\n"
DEAF = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True:\n    time.sleep(99)\n"
TRAINS = (
    "import torch\nnet = torch.nn.Linear(4, 4)\noptimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
    "while True:\n    net(torch.ones(2, 4)).sum().backward()\n    optimizer.step()\n"
)


@pytest.mark.parametrize("text", [LOOP, LONG_CALL, DEAF, TRAINS], ids=["loop", "C call", "deaf", "trains"])
def test_a_program_that_does_not_end_is_ended(text: str, worker: WorkerProcess, tmp_path: Path) -> None:
    file = program(tmp_path, text)
    done = worker.run(file, wall=0.5)
    assert failure(done) == ("timeout", "stopped after 0.5 s")
    frames = done["result"]["error"]["frames"]
    assert frames[0]["file"] == str(file)
    assert frames[-1]["line"] in range(1, 9)
    assert worker.run(program(tmp_path, "value = 1\n"))["status"] == "ok"


def test_the_place_where_the_time_ran_out_is_told(either_worker: WorkerProcess, tmp_path: Path) -> None:
    folder = tmp_path / "döner"
    folder.mkdir()
    file = program(folder, LOOP)
    frames = either_worker.run(file, wall=0.5)["result"]["error"]["frames"]
    assert [(each["file"], each["function"]) for each in frames] == [(str(file), "<module>"), (str(file), "spin")]
    assert frames[0]["line"] == 5


def test_a_thread_that_never_ends_holds_nothing_up(worker: WorkerProcess, tmp_path: Path) -> None:
    text = "import threading, time\nthreading.Thread(target=lambda: time.sleep(999)).start()\nvalue = 1\n"
    assert worker.run(program(tmp_path, text))["status"] == "ok"


# ---------------------------------------------------------------- programs that want too much


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nx = torch.ones(2_000_000_000)\n",
        "x = bytearray(b'1') * 4_000_000_000\n",
        "import torch\nx = [torch.ones(1_000_000) for _ in range(2_000)]\n",
    ],
    ids=["one tensor", "bytes", "many tensors"],
)
def test_a_program_that_wants_too_much_memory_is_ended(text: str, either_worker: WorkerProcess, tmp_path: Path) -> None:
    status, message = failure(either_worker.run(program(tmp_path, text), memory=1_000))
    assert status == "memory"
    assert "memory" in message or "MB" in message
    assert either_worker.run(program(tmp_path, "value = 1\n"))["status"] == "ok"


def test_memory_below_the_limit_can_be_had(worker: WorkerProcess, tmp_path: Path) -> None:
    text = "import torch\nvalue = torch.ones(50_000_000).sum().item()\n"
    assert worker.run(program(tmp_path, text), memory=1_000)["result"]["value"] == 50_000_000


def test_a_hundred_megabytes_of_output_are_cut_short(either_worker: WorkerProcess, tmp_path: Path) -> None:
    request = either_worker.ask(program(tmp_path, "for _ in range(1_000):\n    print('x' * 100_000)\nvalue = 1\n"))
    assert either_worker.done(request)["status"] == "ok"
    printed = either_worker.output(request)
    assert 200_000 <= len(printed) < 201_000
    assert printed.endswith("[what comes after 200,000 characters is not shown]\n")


# ---------------------------------------------------------------- programs that crash or leave


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("import ctypes\nctypes.string_at(0)\n", "crash", "SIGSEGV"),
        ("import os\nos.abort()\n", "crash", "SIGABRT"),
        ("import os\nos._exit(3)\n", "crash", "exit code 3"),
        ("import os\nos._exit(0)\n", "crash", "exit code 0"),
        ("import sys\nsys.exit('bye')\n", "exit", "exit('bye')"),
        ("raise KeyboardInterrupt\n", "crash", "KeyboardInterrupt"),
        ("input()\n", "crash", "EOFError"),
        ("import no_such_package\n", "crash", "no_such_package"),
        ("def f(:\n", "crash", "SyntaxError"),
        ("class E(BaseException): ...\nraise E('odd')\n", "crash", "odd"),
    ],
)
def test_each_way_to_fail_is_told(text: str, status: str, words: str, worker: WorkerProcess, tmp_path: Path) -> None:
    found, message = failure(worker.run(program(tmp_path, text)))
    assert found == status
    assert words in message
    assert worker.run(program(tmp_path, "value = 1\n"))["status"] == "ok"


def test_the_line_of_a_segmentation_fault_is_told(either_worker: WorkerProcess, tmp_path: Path) -> None:
    file = program(tmp_path, "import ctypes\n\nctypes.string_at(0)\n")
    frames = either_worker.run(file)["result"]["error"]["frames"]
    assert [(each["file"], each["line"]) for each in frames] == [(str(file), 3)]


def test_a_file_that_is_gone_is_told(worker: WorkerProcess, tmp_path: Path) -> None:
    status, message = failure(worker.run(tmp_path / "gone.py"))
    assert status == "crash"
    assert "gone.py" in message


def test_a_program_that_closes_every_descriptor_is_told(either_worker: WorkerProcess, tmp_path: Path) -> None:
    done = either_worker.run(program(tmp_path, "import os\nos.closerange(3, 256)\nvalue = 1\n"))
    assert done["status"] in ("crash", "ok")
    assert either_worker.run(program(tmp_path, "value = 1\n"))["status"] == "ok"


# ---------------------------------------------------------------- what a program prints


def test_prints_of_python_and_of_c_are_captured(either_worker: WorkerProcess, tmp_path: Path) -> None:
    text = (
        "import ctypes, os, sys\nprint('{\"event\": \"done\"}')\nos.write(1, b'raw\\n')\n"
        "print('to stderr ü', file=sys.stderr)\nctypes.CDLL(None).puts(b'from C')\nvalue = 1\n"
    )
    request = either_worker.ask(program(tmp_path, text))
    assert either_worker.done(request)["status"] == "ok"
    lines = either_worker.output(request).splitlines()
    assert lines == ['{"event": "done"}', "raw", "to stderr ü", "from C"]


def test_what_was_printed_before_a_crash_is_told(worker: WorkerProcess, tmp_path: Path) -> None:
    request = worker.ask(program(tmp_path, "import os\nprint('last words')\nos._exit(1)\n"))
    assert worker.done(request)["status"] == "crash"
    assert worker.output(request) == "last words\n"


# ---------------------------------------------------------------- processes that a program starts


CHILD = (
    "import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(999)']{more})\n"
)
DAEMON = (
    "import os, time\nreads, writes = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        os.write(writes, str(os.getpid()).encode())\n        time.sleep(999)\n    os._exit(0)\nvalue = int(os.read(reads, 20))\n"
)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no way to find those that left the group")
@pytest.mark.parametrize(
    "text",
    [
        CHILD.format(more="") + "value = child.pid\n",
        CHILD.format(more=", start_new_session=True") + "value = child.pid\n",
        DAEMON,
    ],
    ids=["child", "own session", "daemon"],
)
def test_what_a_program_has_started_ends_with_it(text: str, worker: WorkerProcess, tmp_path: Path) -> None:
    done = worker.run(program(tmp_path, text))
    assert done["status"] == "ok"
    wait_until_gone(done["result"]["value"])


@pytest.mark.skipif(sys.platform != "linux", reason="as above")
def test_what_a_program_has_started_ends_when_it_is_cancelled(either_worker: WorkerProcess, tmp_path: Path) -> None:
    note = tmp_path / "note"
    text = CHILD.format(more=", start_new_session=True") + f"open({str(note)!r}, 'w').write(str(child.pid))\n{LOOP}"
    request = either_worker.ask(program(tmp_path, text))
    grandchild = int(wait_for_file(note))
    either_worker.cancel(request)
    assert either_worker.done(request)["status"] == "cancelled"
    wait_until_gone(grandchild)


# ---------------------------------------------------------------- cancelling


def test_a_running_program_is_cancelled(either_worker: WorkerProcess, tmp_path: Path) -> None:
    note = tmp_path / "note"
    text = f"import os\nopen({str(note)!r}, 'w').write(str(os.getpid()))\n{DEAF}"
    request = either_worker.ask(program(tmp_path, text))
    process = int(wait_for_file(note))
    either_worker.cancel(request)
    assert failure(either_worker.done(request)) == ("cancelled", "cancelled")
    wait_until_gone(process)


def test_what_has_not_begun_is_cancelled(worker: WorkerProcess, tmp_path: Path) -> None:
    running = [worker.ask(program(tmp_path, LOOP, f"p{n}.py")) for n in range(2)]
    waiting = worker.ask(program(tmp_path, "value = 1\n"))
    worker.cancel(waiting)
    assert worker.done(waiting)["status"] == "cancelled"
    for request in running:
        worker.cancel(request)
        assert worker.done(request)["status"] == "cancelled"
    assert worker.run(program(tmp_path, "value = 1\n"))["status"] == "ok"


def test_cancelling_what_is_over_does_nothing(worker: WorkerProcess, tmp_path: Path) -> None:
    done = worker.run(program(tmp_path, "value = 1\n"))
    worker.cancel(done["id"])
    assert worker.run(program(tmp_path, "value = 2\n"))["result"]["value"] == 2
    assert len(worker.of(done["id"], "done")) == 1


def test_a_request_that_is_cancelled_while_torch_is_imported_is_not_run(
    own_worker: WorkerProcess, tmp_path: Path
) -> None:
    note = tmp_path / "note"
    request = own_worker.ask(program(tmp_path, f"open({str(note)!r}, 'w').close()\n"))
    own_worker.cancel(request)
    assert own_worker.done(request)["status"] == "cancelled"
    assert not note.exists()


# ---------------------------------------------------------------- the network, the GPU


def test_a_connection_is_refused_and_reported(either_worker: WorkerProcess, tmp_path: Path) -> None:
    text = (
        "import socket\ntry:\n    socket.create_connection(('example.org', 80), 1)\nexcept OSError as error:\n"
        "    value = str(error)\ntry:\n    socket.socket().connect(('192.0.2.1', 9))\nexcept OSError:\n    pass\n"
    )
    file = program(tmp_path, text)
    result = either_worker.run(file)["result"]
    assert "offline" in result["value"]
    notices = [(each["kind"], each["file"], each["line"]) for each in result["notices"]]
    assert notices == [("network", str(file), 3), ("network", str(file), 7)]
    assert ["example.org" in result["notices"][0]["message"], "192.0.2.1" in result["notices"][1]["message"]] == [
        True
    ] * 2


def test_this_machine_can_be_reached(worker: WorkerProcess, tmp_path: Path) -> None:
    text = (
        "import socket\nlistening = socket.create_server(('127.0.0.1', 0))\n"
        "value = socket.create_connection(listening.getsockname(), 5).getpeername()[0]\n"
    )
    result = worker.run(program(tmp_path, text))["result"]
    assert result["value"] == "127.0.0.1"
    assert "notices" not in result


def test_hub_libraries_are_told_to_stay_offline(either_worker: WorkerProcess, tmp_path: Path) -> None:
    text = "import os\nvalue = [os.environ['HF_HUB_OFFLINE'], os.environ['CUDA_VISIBLE_DEVICES']]\n"
    assert either_worker.run(program(tmp_path, text))["result"]["value"] == ["1", ""]


def test_gpus_are_seen_where_they_are_asked_for(start: Start, tmp_path: Path) -> None:
    process = start(environment={"CUDA_VISIBLE_DEVICES": "5"})
    text = "import os\nvalue = os.environ['CUDA_VISIBLE_DEVICES']\n"
    file = program(tmp_path, text)
    assert process.run(file, cuda=True)["result"]["value"] == "5"
    assert process.run(file)["result"]["value"] == ""


# ---------------------------------------------------------------- the worker's own life


def test_it_says_what_it_is(own_worker: WorkerProcess) -> None:
    ready = own_worker.wait_for("ready")
    assert ready["torch"].startswith("2.")
    assert ready["python"] == ".".join(map(str, sys.version_info[:3]))
    assert ready["fork"] is (sys.platform == "linux")


def test_it_ends_when_nothing_is_asked_for(start: Start) -> None:
    process = start("--idle", "0.1")
    assert process.wait_for("retired")["reason"] == "idle"
    assert process.process.wait(60) == 0


@pytest.mark.parametrize("arguments", [FORKS, SPARES])
def test_it_ends_with_its_runs_when_the_client_is_gone(
    arguments: tuple[str, ...], start: Start, tmp_path: Path
) -> None:
    process = start(*arguments)
    note = tmp_path / "note"
    process.ask(program(tmp_path, f"import os\nopen({str(note)!r}, 'w').write(str(os.getpid()))\n{DEAF}"))
    run = int(wait_for_file(note))
    assert process.process.stdin is not None
    process.process.stdin.close()
    assert process.process.wait(60) == 0
    wait_until_gone(run)


@pytest.mark.skipif(sys.platform == "win32", reason="by a signal")
@pytest.mark.parametrize("arguments", [FORKS, SPARES])
def test_its_runs_end_when_it_is_killed(arguments: tuple[str, ...], start: Start, tmp_path: Path) -> None:
    process = start(*arguments)
    note = tmp_path / "note"
    process.ask(program(tmp_path, f"import os\nopen({str(note)!r}, 'w').write(str(os.getpid()))\n{DEAF}"))
    run = int(wait_for_file(note))
    process.process.send_signal(signal.SIGKILL)
    wait_until_gone(run)


def test_another_environment_needs_another_worker(start: Start, tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    process = start(environment={"PYTHONPATH": str(packages)})
    file = program(tmp_path, "value = 1\n")
    assert process.run(file)["status"] == "ok"
    (packages / "new_package-1.0.dist-info").mkdir()
    process.ask(file)
    assert process.wait_for("retired")["reason"] == "environment"
    assert process.process.wait(60) == 0


@pytest.mark.parametrize("arguments", [FORKS, SPARES])
def test_a_missing_torch_is_told(arguments: tuple[str, ...], start: Start, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / ("Scripts" if os.name == "nt" else "bin") / "python"
    process = start(*arguments, python=python)
    process.ask(program(tmp_path, ""))
    told = process.wait_for("no_torch")
    assert told["message"] == "torch is not installed"
    assert Path(told["python"]).parent == python.parent
    assert process.process.wait(60) == 3


def test_a_broken_torch_is_told(start: Start, tmp_path: Path) -> None:
    program(tmp_path, "raise OSError('libtorch_cpu.so: cannot open shared object file')\n", "torch.py")
    process = start(environment={"PYTHONPATH": str(tmp_path)})
    assert "libtorch_cpu.so" in process.wait_for("no_torch")["message"]


@pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")
def test_a_process_that_has_threads_is_not_forked(start: Start, tmp_path: Path) -> None:
    text = "import threading, time\nthreading.Thread(target=time.sleep, args=(999,), daemon=True).start()\n"
    program(tmp_path, text, "sitecustomize.py")
    process = start(environment={"PYTHONPATH": str(tmp_path)})
    assert process.run(program(tmp_path, "value = 1\n"))["status"] == "ok"
    assert [event["fork"] for event in process.events if event["event"] == "ready"] == [False]


@pytest.mark.skipif(sys.platform != "linux", reason="forks are for Linux")
def test_the_process_that_is_forked_has_one_thread_and_its_children_compute(
    own_worker: WorkerProcess, tmp_path: Path
) -> None:
    own_worker.wait_for("ready")
    assert len(list(Path(f"/proc/{own_worker.process.pid}/task").iterdir())) == 1
    text = "import torch\ntorch.set_num_threads(2)\nx = torch.randn(1500, 1500)\nvalue = (x @ x).shape[0]\n"
    assert own_worker.run(program(tmp_path, text))["result"]["value"] == 1500
    assert own_worker.run(program(tmp_path, text))["result"]["value"] == 1500


def test_words_that_are_no_request_are_passed_over(worker: WorkerProcess, tmp_path: Path) -> None:
    assert worker.process.stdin is not None
    worker.process.stdin.write(b"nonsense\n[1]\n\n")
    worker.send({"id": 99_999, "op": "dance"})
    assert worker.done(99_999)["status"] == "unsupported"
    assert worker.run(program(tmp_path, "value = 1\n"))["status"] == "ok"


def test_an_interpreter_that_is_too_old_says_so() -> None:
    older = f"import runpy, sys; sys.version_info = (3, 9); runpy.run_path({str(WORKER)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", older], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 1
    assert "needs Python 3.10 or newer" in done.stderr
    assert "Traceback" not in done.stderr
