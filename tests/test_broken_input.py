"""Files that can't be linted, or only in part: one clear report each, the others are linted, nothing is written."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_lsp.cli import main
from llm_lsp.project import Project, ProjectFile
from llm_lsp.source import Source

PACK = Path(__file__).resolve().with_name("demo_pack")

GOOD = b"x = LOUD\n"
NOTEBOOK: dict[str, Any] = {
    "cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": ["LOUD"]}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", [str(PACK), *(path for path in sys.path if Path(path).name != "site-packages")])
    monkeypatch.delenv("LLM_LINT_OUTPUT_FORMAT", raising=False)
    (tmp_path / "setup.cfg").touch()
    (tmp_path / "good.py").write_bytes(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


Check = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    """The diagnostics of one run; whatever it is given, it prints no traceback and exits with 0 or 1."""

    def check(*arguments: str) -> list[dict[str, Any]]:
        code = main(["check", "--output-format", "json", *arguments])
        out, err = capsys.readouterr()
        assert code in (0, 1), err
        assert err == ""
        assert "Traceback" not in out
        found: list[dict[str, Any]] = json.loads(out)
        return found

    return check


def of(path: str, found: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(each["code"], each["location"]["row"]) for each in found if each["filename"] == path]


BROKEN = {
    "a syntax error": ("bad.py", b"x = 1\ny = = 2\n", ("LLM000", 2)),
    "a truncated file": ("bad.py", b"def f(a,\n", ("LLM000", 1)),
    "a truncated string": ("bad.py", b"x = 1\ny = '''abc\n", ("LLM000", 2)),
    "a null byte": ("bad.py", b"x = 1\ny = '\x00'\n", ("LLM000", 2)),
    "latin-1 without a coding line": ("bad.py", b"x = 1\ny = '\xe9'\n", ("LLM000", 2)),
    "an unknown coding": ("bad.py", b"# coding: klingon\nx = 1\n", ("LLM000", 1)),
    "utf-16": ("bad.py", "x = 1\n".encode("utf-16"), ("LLM000", 1)),
    "a file of 5 MB": ("bad.py", b"x = 1\n" * 850_000, ("LLM002", 1)),
    "500 parentheses": ("bad.py", b"x = " + b"(" * 500 + b"1" + b")" * 500 + b"\n", None),
    "500 blocks": ("bad.py", b"".join(b" " * depth + b"if x:\n" for depth in range(500)) + b" " * 500 + b"y\n", None),
    "a notebook that is not JSON": ("bad.ipynb", b'{"cells": [', None),
    "a notebook that is a list": ("bad.ipynb", b"[]", None),
    "a notebook without cells": ("bad.ipynb", b'{"nbformat": 4}', None),
    "a notebook with odd cells": (
        "bad.ipynb",
        b'{"nbformat": 4, "cells": [1, {"cell_type": "code", "source": 3}]}',
        None,
    ),
    "an empty notebook file": ("bad.ipynb", b"", None),
    "a notebook nested too deeply": ("bad.ipynb", b"[" * 100_000, None),
    "a notebook with bytes that are no text": ("bad.ipynb", b'{"cells": ["\xff"]}', None),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_file_is_reported_once_and_the_others_are_linted(check: Check, what: str) -> None:
    name, data, expected = BROKEN[what]
    Path(name).write_bytes(data)
    found = check()
    assert of("good.py", found) == [("DEM101", 1)]
    reported = of(name, found)
    assert len(reported) == 1
    assert reported[0][0] in {"LLM000", "LLM002"}
    if expected is not None:
        assert reported == [expected]
    (message,) = [each["message"] for each in found if each["filename"] == name]
    assert message
    assert "llm-lint failed" not in message


@pytest.mark.parametrize("what", BROKEN)
def test_nothing_is_written_to_a_broken_file(check: Check, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, data, _ = BROKEN[what]
    Path(name).write_bytes(data)
    check("--fix", "--unsafe-fixes")
    assert Path(name).read_bytes() == data
    assert Path("good.py").read_bytes() == b"x = calm\n"
    main(["check", "--add-noqa"])
    capsys.readouterr()
    assert Path(name).read_bytes() == data


@pytest.mark.parametrize("what", BROKEN)
def test_every_format_can_show_a_broken_file(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, data, _ = BROKEN[what]
    Path(name).write_bytes(data)
    for output_format in ("full", "concise", "grouped", "github", "gitlab", "junit", "sarif"):
        assert main(["check", name, "--output-format", output_format]) == 1
        out, err = capsys.readouterr()
        assert name in out
        assert len(out) < 20_000
        assert err == ""


DEEP = {
    "5,000 unary operators": b"LOUD\nx = " + b"-" * 5_000 + b"1\n",
    "a sum of 20,000 terms": b"LOUD\nx = " + b"1 + " * 20_000 + b"1\n",
    "a chain of 5,000 attributes": b"LOUD\nx = a" + b".b" * 5_000 + b"\n",
    "a chain of 3,000 calls": b"LOUD\nx = a" + b".b()" * 3_000 + b"\n",
    "900 unary operators": b"LOUD\nx = " + b"-" * 900 + b"1\n",
    "150 nested lists": b"LOUD\nx = " + b"[" * 150 + b"1" + b"]" * 150 + b"\n",
    "90 nested functions": b"LOUD\n"
    + b"".join(b" " * depth + b"def f():\n" for depth in range(90))
    + b" " * 90
    + b"f\n",
    "3,000 branches": b"LOUD\nif a:\n    b\n" + b"elif a:\n    b\n" * 3_000,
}


@pytest.mark.parametrize("what", DEEP)
def test_code_as_deep_as_this_python_can_read_is_linted_or_given_up(check: Check, what: str) -> None:
    # Where CPython gives up differs from release to release.
    Path("deep.py").write_bytes(DEEP[what])
    found = check()
    assert of("good.py", found) == [("DEM101", 1)]
    reports = [(each["code"], each["message"]) for each in found if each["filename"] == "deep.py"]
    given_up = [message for code, message in reports if code != "DEM101"]
    assert reports
    assert given_up in ([], ["the code is nested too deeply to be analysed; split the expression or block"])
    check("deep.py", "--fix", "--unsafe-fixes")
    assert Path("deep.py").read_bytes() in {DEEP[what], DEEP[what].replace(b"LOUD", b"calm")}


ODD = {
    "a byte-order mark": ("odd.py", b"\xef\xbb\xbfx = LOUD\n", (1, 5)),
    "CRLF": ("odd.py", b"x = 1\r\ny = LOUD\r\n", (2, 5)),
    "CR alone": ("odd.py", b"x = 1\ry = LOUD\r", (2, 5)),
    "form feeds": ("odd.py", b"x = 1\n\x0c\ny = LOUD\n", (3, 5)),
    "tabs": ("odd.py", b"if x:\n\ty = LOUD\n", (2, 6)),
    "emoji": ("odd.py", "x = '🤗🏽', LOUD\n".encode(), (1, 11)),
    "other line separators": ("odd.py", "x = '\u2028\x85\x0b', LOUD\n".encode(), (1, 12)),
    "latin-1 with a coding line": ("odd.py", b"# coding: latin-1\nx = '\xe9', LOUD\n", (2, 10)),
    "no final line end": ("odd.py", b"x = LOUD", (1, 5)),
    "a backslash at the end": ("odd.py", b"x = LOUD\n\\\n", None),
    "half-typed code": ("odd.py", b"x = LOUD\ntorch.manual_seed(\ny = 1\n", None),
    "a notebook": ("odd.ipynb", json.dumps(NOTEBOOK).encode(), (1, 1)),
    "a notebook with a byte-order mark": ("odd.ipynb", b"\xef\xbb\xbf" + json.dumps(NOTEBOOK).encode(), (1, 1)),
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_file_keeps_its_diagnostics(check: Check, what: str) -> None:
    name, data, place = ODD[what]
    Path(name).write_bytes(data)
    found = check(name)
    loud = [each["location"] for each in found if each["code"] == "DEM101"]
    assert len(loud) == 1
    if place is not None:
        assert [each["code"] for each in found] == ["DEM101"]
        assert loud == [{"row": place[0], "column": place[1]}]


@pytest.mark.parametrize("what", [what for what, (_, _, place) in ODD.items() if place is not None])
def test_a_fix_in_an_odd_file_changes_nothing_but_the_word(check: Check, what: str) -> None:
    name, data, _ = ODD[what]
    Path(name).write_bytes(data)
    assert check(name, "--fix", "--unsafe-fixes") == []
    assert Path(name).read_bytes() == data.replace(b"LOUD", b"calm")


def test_an_empty_file_is_clean(check: Check) -> None:
    Path("empty.py").write_bytes(b"")
    assert check("empty.py") == []


def test_a_folder_with_the_name_of_a_file_is_a_folder(check: Check) -> None:
    Path("folder.py").mkdir()
    Path("folder.py", "inside.py").write_bytes(GOOD)
    assert of("folder.py/inside.py", check()) == [("DEM101", 1)]
    assert of("folder.py/inside.py", check("folder.py")) == [("DEM101", 1)]


def test_a_file_that_cant_be_read_is_reported_and_the_others_are_linted(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The mode of a file would stop nobody who runs the tests as root.
    Path("secret.py").write_bytes(GOOD)
    real = Project.source

    def refusing(project: Project, file: ProjectFile) -> Source:
        if file.path.name == "secret.py":
            raise PermissionError(13, "Permission denied")
        return real(project, file)

    monkeypatch.setattr(Project, "source", refusing)
    found = check()
    assert of("secret.py", found) == [("LLM002", 1)]
    assert of("good.py", found) == [("DEM101", 1)]
    (message,) = [each["message"] for each in found if each["filename"] == "secret.py"]
    assert message == "the file can't be read: Permission denied"


def test_a_file_that_vanishes_is_reported(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gone.py").write_bytes(GOOD)
    real = Project.source

    def vanishing(project: Project, file: ProjectFile) -> Source:
        if file.path.name == "gone.py":
            file.path.unlink()
        return real(project, file)

    monkeypatch.setattr(Project, "source", vanishing)
    assert of("gone.py", check()) == [("LLM002", 1)]


@pytest.mark.skipif(sys.platform == "win32", reason="making links needs a right there")
def test_links_in_a_circle_and_into_nothing_are_passed_over(check: Check) -> None:
    Path("nothing.py").symlink_to("gone.py")
    Path("circle.py").symlink_to("circle.py")
    Path("sub").mkdir()
    Path("sub", "up").symlink_to("..", target_is_directory=True)
    assert [each["filename"] for each in check()] == ["good.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse the name")
def test_a_file_name_that_is_no_text_can_be_shown(check: Check, capsys: pytest.CaptureFixture[str]) -> None:
    Path(os.fsdecode(b"odd\xff\n.py")).write_bytes(GOOD)
    assert len(check()) == 2
    for output_format in ("full", "github", "gitlab", "junit", "sarif", "json-lines"):
        assert main(["check", "--output-format", output_format]) == 1
        out, err = capsys.readouterr()
        assert err == ""
        out.encode()
