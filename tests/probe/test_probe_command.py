"""`llm-lint probe`: what it prints and how it ends. The programs state what a run of them finds out."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from llm_lsp.cli import main
from llm_lsp.probe import client
from tests.probe.worker_process import stand_in, wait_for_file, wait_until_gone

pytestmark = pytest.mark.xdist_group("probe worker")

MODEL = "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x @ x\n\n\nOUTCOME = {outcome}\n"
OK: dict[str, Any] = {
    "target": "Net",
    "method": "fake",
    "confirmed": True,
    "inputs": {"x": "float32[2,16]"},
    "outputs": "[2, 4]",
    "rows": [
        {
            "name": "",
            "type": "Net",
            "line": 4,
            "calls": 1,
            "in": "[2, 16]",
            "out": "[2, 4]",
            "params": 1234,
            "flops": 9,
        },
        {"name": "head", "type": "Linear", "line": 6, "calls": 3, "in": "[2, 16]", "out": "[2, 4]", "params": 68},
        {"name": "head.[bold]", "type": "[red]", "line": 6, "calls": 1, "in": None, "out": None, "params": 0},
        {"name": "blocks.0", "type": "Block", "line": 6, "calls": 1, "in": None, "out": None, "params": 0},
        {"name": "blocks.0.attn.q", "type": "Linear", "line": 6, "calls": 1, "in": None, "out": None, "params": 0},
        {"name": "tail", "type": "Linear", "line": 6, "calls": 1, "in": None, "out": None, "params": 0},
    ],
    "totals": {"params": 1234, "flops": 1_500_000, "bytes": {"fp32": 4936, "kv_cache": 2**20}, "kv_cache_length": 1024},
    "assumptions": [{"what": "dim", "value": "16", "source": "default", "line": 5}],
    "notices": [{"kind": "batch", "message": "samples mix", "file": "model.py", "line": 6}],
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of its own, whose worker is the stand-in."""
    monkeypatch.setattr(client, "WORKER", stand_in(tmp_path_factory.mktemp("probe")) / "__main__.py")
    for name in ("NO_COLOR", "FORCE_COLOR", "VIRTUAL_ENV", "CONDA_PREFIX", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "setup.cfg").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(status: str, result: dict[str, Any], before: str = "") -> str:
    text = MODEL.replace("{outcome}", repr({"status": status, "result": result}))
    Path("model.py").write_text(before + text, encoding="utf-8")
    return "model.py:Net"


def probe(*arguments: str) -> int:
    return main(["probe", "shape", "--python", sys.executable, *arguments])


def failing(path: Path) -> dict[str, Any]:
    frames: list[dict[str, Any]] = [
        {"file": str(path), "line": 9, "col": 0, "end_line": 9, "end_col": 7, "function": "<module>", "tensors": {}},
        {
            "file": str(path),
            "line": 6,
            "col": 15,
            "end_line": 6,
            "end_col": 20,
            "function": "Net.forward",
            "tensors": {"x": "[2, 3]"},
        },
    ]
    error: dict[str, Any] = {
        "message": "[2, 3] @ [2, 3]: 3 and 2 differ",
        "op": "matmul",
        "operands": ["[2, 3]"] * 2,
        "frames": frames,
    }
    return {"target": "Net", "confirmed": True, "error": error}


def test_a_run_that_is_well_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert probe(program("ok", OK)) == 0
    out = capsys.readouterr().out
    assert out.startswith("Net  [2, 16] → [2, 4] · 1.23 k parameters · 1.50 MFLOP · 1 notice · run for real\n")
    assert re.search(r"^  head +Linear x3 +\[2, 16\] +\[2, 4\] +68 +6 *$", out, re.MULTILINE)
    assert re.search(r"^    \[bold\] +\[red\]", out, re.MULTILINE)
    assert re.search(r"^  blocks\.0 +Block", out, re.MULTILINE)
    assert re.search(r"^    attn\.q +Linear", out, re.MULTILINE)
    assert re.search(r"^  tail +Linear", out, re.MULTILINE)
    assert "memory: weights in float32 4.82 KiB, keys and values 1.00 MiB at 1,024 tokens" in out
    assert "assumed: dim = 16 (a default, line 5)" in out
    assert "notice: model.py:6: samples mix" in out


def test_an_error_is_shown_with_its_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert probe(program("user_error", failing(here / "model.py"))) == 1
    assert capsys.readouterr().out == (
        "Net  [2, 3] @ [2, 3]: 3 and 2 differ\n"
        "  model.py:9: <module>\n"
        "  model.py:6: Net.forward\n"
        "     6 |         return x @ x\n"
        "       |                ^^^^^\n"
        "         with `x` [2, 3]\n\n"
    )


def test_arguments_that_are_missing_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    result = {"target": "Net", "problem": "`Net` can't be made", "paste": "# probe: Net(dim=...)(x=float[2,16])"}
    assert probe(program("needs_args", result)) == 2
    out = capsys.readouterr().out
    assert out.startswith("Net  `Net` can't be made\n")
    assert "# probe: Net(dim=...)(x=float[2,16])" in out


def test_json_is_the_last_event_and_nothing_else(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    result = failing(here / "model.py")
    place = program("user_error", result, before="print('noise')\n")
    assert probe(place, "--json") == 1
    out, err = capfd.readouterr()
    assert json.loads(out) == {"status": "user_error", "result": result}
    assert err == ""


def test_every_class_of_a_file_is_shown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = [{"status": "ok", "result": OK}, {"status": "user_error", "result": failing(here / "model.py")}]
    program("user_error", {"target": None, "classes": classes})
    assert probe("model.py") == 1
    assert len(re.findall("^Net  ", capsys.readouterr().out, re.MULTILINE)) == 2


def test_what_the_program_prints_goes_to_the_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert probe(program("ok", OK, before="print('[bold]hello')\n")) == 0
    out, err = capfd.readouterr()
    assert "hello" not in out
    assert err == "[bold]hello\n"


def test_the_time_limit_counts(capsys: pytest.CaptureFixture[str]) -> None:
    program("ok", OK, before="def spin():\n    while True: pass\nspin()\n")
    assert probe("model.py:Net", "--time-limit", "0.5") == 2
    assert "stopped after 0.5 s in `spin`, line 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("none.py", "`none.py` is not a file"),
        ("none.py:Net", "`none.py` is not a file"),
        (".", "`.` is not a file"),
        ("setup.cfg", "no Python file"),
    ],
)
def test_a_place_that_can_not_be_run_is_told(place: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert probe(place) == 2
    assert words in capsys.readouterr().err


def test_an_interpreter_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    program("ok", OK)
    assert main(["probe", "shape", "model.py", "--python", "nowhere"]) == 2
    assert "`nowhere` is no Python interpreter" in capsys.readouterr().err


def test_an_interpreter_without_torch_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program("ok", OK)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], check=True)
    assert main(["probe", "shape", "model.py:Net"]) == 2
    out = capsys.readouterr().out
    assert f"torch is not installed in {here / '.venv' / ('Scripts' if os.name == 'nt' else 'bin')}" in out
    assert "--python" in out


def test_the_interpreter_of_the_settings_is_used(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program("ok", OK)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", "elsewhere"], check=True)
    Path("llm-lint.toml").write_text('python = "elsewhere"\n', encoding="utf-8")
    assert main(["probe", "shape", "model.py:Net"]) == 2
    assert f"torch is not installed in {here / 'elsewhere'}" in capsys.readouterr().out


def test_without_rich_there_is_json_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    place = program("ok", OK)
    assert probe(place) == 2
    assert "`pip install rich`" in capsys.readouterr().err
    assert probe(place, "--json") == 0


@pytest.mark.skipif(sys.platform == "win32", reason="an interrupt goes to all of a console there")
def test_an_interrupt_ends_the_run_too(here: Path) -> None:
    note = here / "note"
    text = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(999)\n"
    program("ok", OK, before=text)
    worker = repr(str(client.WORKER))
    command = (
        "import pathlib, signal, sys\nfrom llm_lsp.cli import main\nfrom llm_lsp.probe import client\n"
        # A shell that starts the tests in the background has them ignore interrupts.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"client.WORKER = pathlib.Path({worker})\n"
        "sys.exit(main(['probe', 'shape', 'model.py:Net', '--json', '--time-limit', '900', '--python', sys.executable]))"
    )
    asked = subprocess.Popen([sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process = int(wait_for_file(note))
    asked.send_signal(signal.SIGINT)
    printed, said = asked.communicate(timeout=60)
    assert (asked.returncode, printed, said) == (130, b"", b"")
    wait_until_gone(process)
