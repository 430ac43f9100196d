"""The command line, run in this process; the rules are those of `demo_pack`, which look for words."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from llm_lsp import __version__, registry
from llm_lsp.project import Project, ProjectFile
from llm_lsp.source import Source
from llm_lsp.world import World

ROOT = Path(__file__).resolve().parents[1]
PACK = Path(__file__).resolve().with_name("demo_pack")

TEXT = 'x = LOUD\ny = PLAIN  # SMALL\nz = "é"\n'
PLAIN_FIXED = TEXT.replace("PLAIN", "fancy")
ALL_FIXED = PLAIN_FIXED.replace("LOUD", "calm")


Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("demo_project")


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def codes(output: str) -> list[str]:
    return [found["code"] for found in json.loads(output)]


def check_codes(run: Run, *arguments: str) -> list[str]:
    return codes(run("check", "--output-format", "json", *arguments).out)


# ---------------------------------------------------------------- what is checked, and the exit code


def test_the_working_directory_is_checked_where_no_path_is_given(run: Run) -> None:
    write("a.py", TEXT)
    write("pkg/b.py", "LOUD\n")
    done = run("check", "--output-format", "concise")
    assert done.code == 1
    assert done.err == ""
    assert done.out == (
        "a.py:1:5: error DEM101 loud-word: `LOUD` is shouted [unsafe fix]\n"
        "a.py:2:5: warning DEM102 plain-word: `PLAIN` is dull [fix]\n"
        "a.py:2:14: information DEM103 small-word: `SMALL` is small\n"
        "pkg/b.py:1:1: error DEM101 loud-word: `LOUD` is shouted [unsafe fix]\n"
        "Found 4 problems (2 errors, 1 warning, 1 information) in 2 files; "
        "1 can be fixed with --fix, 2 more with --unsafe-fixes.\n"
    )


def test_a_clean_project_exits_with_zero(run: Run) -> None:
    write("a.py", "x = 1\n")
    assert run("check") == (0, "No problems in 1 file.\n", "")
    assert run("check", "--quiet") == (0, "", "")


def test_full_is_the_default_and_quotes_the_source(run: Run) -> None:
    write("a.py", "x = LOUD, LOUD\n")
    done = run("check", "-q")
    assert done.out.split("\n\n")[1] == (
        "a.py:1:11: error DEM101 loud-word [unsafe fix]\n"
        "  `LOUD` is shouted\n"
        "  |\n"
        "1 | x = LOUD, LOUD\n"
        "  |           ^^^^\n"
        "  |     ---- and before\n"
        "  = help: say `calm`"
    )


def test_a_path_that_does_not_exist_is_named_and_nothing_is_linted(run: Run) -> None:
    write("a.py", TEXT)
    done = run("check", "a.py", "gone.py", "--fix")
    assert done.code == 2
    assert done.out == ""
    assert done.err == "llm-lint: `gone.py` does not exist; nothing was linted\n"
    assert Path("a.py").read_bytes() == TEXT.encode()


def test_no_files_is_a_warning(run: Run) -> None:
    write("notes.txt", "LOUD")
    done = run("check")
    assert done.code == 0
    assert done.err == "llm-lint: warning: there are no Python files or notebooks here\n"
    assert run("check", "--quiet").err == ""


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        ("LOUD", "error", 1),
        ("PLAIN", "error", 0),
        ("PLAIN", "warning", 1),
        ("SMALL", "warning", 0),
        ("SMALL", "information", 1),
        ("LOUD", "never", 0),
    ],
)
def test_fail_on_is_the_least_severity_that_counts(run: Run, text: str, fail_on: str, code: int) -> None:
    write("a.py", f"{text}\n")
    assert run("check", "--fail-on", fail_on).code == code
    write("llm-lint.toml", f'fail-on = "{fail_on}"\n')
    assert run("check").code == code


def test_exit_zero_reports_all_the_same(run: Run) -> None:
    write("a.py", TEXT)
    done = run("check", "--exit-zero")
    assert done.code == 0
    assert "DEM101" in done.out


def test_without_a_rule_pack_nothing_is_clean(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != str(PACK)])
    if any(not entry.is_builtin for entry in installed_rules()):
        pytest.skip("the rules are installed as a pack that can't be hidden here")
    done = run("check")
    assert done.code == 2
    assert "no rule pack is installed" in done.err


def installed_rules() -> tuple[registry.RuleEntry, ...]:
    try:
        return registry.entries()
    except registry.NoRulePack:
        return ()


# ---------------------------------------------------------------- usage


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--output-format", "yaml"], "invalid choice: 'yaml'"),
        (["check", "--no-such-option"], "--no-such-option"),
        (["check", "--select", "DEM9"], "--select: unknown rule `DEM9`"),
        (["check", "--ignore", "loud-wrod"], "did you mean `loud-word`?"),
        (["check", "--extend-select", ","], "--extend-select names no rule"),
        (["check", "-", "a.py"], "`-` reads one file from stdin"),
        (["check", "--stdin-filename", "a.py"], "give `-` as the path"),
        (["check", "--add-noqa", "--fix"], "--add-noqa can't be combined with --fix"),
        (["check", "--statistics", "--output-format", "json"], "--statistics"),
        (["check", "--isolated", "--config", "x.toml"], "not allowed with"),
        (["check", "--config", "gone.toml"], "gone.toml"),
        (["check", "--python", "gone/python"], "--python: `gone/python` does not exist"),
        (["check", "--output-file", "no/such/folder/x"], "--output-file: `no/such/folder/x` can't be written"),
        (["rule", "DEM999"], "there is no rule `DEM999`"),
        (["rule"], "CODE|NAME"),
        (["config", "gone"], "`gone` does not exist"),
        (["chek"], "chek"),
        (["a.py"], "`llm-lint check a.py` lints it"),
        ([], "`llm-lint check` lints this folder"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_two(run: Run, arguments: list[str], said: str) -> None:
    write("a.py", TEXT)
    done = run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("llm-lint: ")
    assert done.err.count("\n") == 1
    assert said in done.err


def test_version_and_help_exit_with_zero(run: Run) -> None:
    assert run("--version") == (0, f"llm-lint {__version__}\n", "")
    assert "--output-format" in run("check", "--help").out


# ---------------------------------------------------------------- rules


def test_rules_are_chosen_by_code_prefix_and_name(run: Run) -> None:
    write("a.py", "LOUD PLAIN RUDE\n".replace(" ", "; "))
    assert check_codes(run) == ["DEM101", "DEM102"]
    assert check_codes(run, "--select", "DEM101") == ["DEM101"]
    assert check_codes(run, "--select", "loud-word,rude-word") == ["DEM101", "DEM104"]
    assert check_codes(run, "--select", "DEM101", "--select", "DEM104") == ["DEM101", "DEM104"]
    assert check_codes(run, "--select", "DEM1", "--ignore", "plain-word") == ["DEM101", "DEM104"]
    assert check_codes(run, "--extend-select", "DEM104") == ["DEM101", "DEM102", "DEM104"]
    assert check_codes(run, "--ignore", "DEM101, DEM102") == []


def test_select_starts_anew_and_the_others_add_to_the_settings(run: Run) -> None:
    write("a.py", "LOUD; PLAIN; RUDE\n")
    write("llm-lint.toml", 'ignore = ["DEM101"]\nextend-select = ["DEM104"]\n')
    assert check_codes(run) == ["DEM102", "DEM104"]
    assert check_codes(run, "--select", "DEM101") == ["DEM101"]
    assert check_codes(run, "--ignore", "DEM102") == ["DEM104"]
    assert check_codes(run, "--extend-select", "DEM101") == ["DEM101", "DEM102", "DEM104"]


def test_isolated_ignores_settings_and_config_names_others(run: Run) -> None:
    write("a.py", "LOUD; PLAIN\n")
    write("llm-lint.toml", 'ignore = ["DEM101"]\n')
    write("other.toml", 'ignore = ["DEM102"]\n')
    assert check_codes(run) == ["DEM102"]
    assert check_codes(run, "--isolated") == ["DEM101", "DEM102"]
    assert check_codes(run, "--config", "other.toml") == ["DEM101"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('ignore = ["DEM999"]\n', "llm-lint.toml:1: unknown rule `DEM999`"),
        ("\nselekt = []\n", "llm-lint.toml:2: "),
        ("select = [", "llm-lint.toml:1: "),
    ],
)
def test_wrong_settings_name_file_and_line_and_nothing_is_linted(run: Run, settings: str, said: str) -> None:
    write("a.py", TEXT)
    write("llm-lint.toml", settings)
    done = run("check", "--fix")
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert Path("a.py").read_bytes() == TEXT.encode()


def test_wrong_settings_of_a_subfolder_stop_the_run_before_the_first_file(run: Run) -> None:
    write("a.py", TEXT)
    write("sub/b.py", TEXT)
    write("sub/llm-lint.toml", 'ignore = ["DEM999"]\n')
    done = run("check", "--fix")
    assert done.code == 2
    assert "sub/llm-lint.toml:1" in done.err
    assert Path("a.py").read_bytes() == TEXT.encode()


def test_a_rule_that_raises_is_reported_and_stops_nothing(run: Run) -> None:
    write("a.py", "CRASH; LOUD\n")
    write("b.py", "LOUD\n")
    done = run("check", "--output-format", "json")
    assert codes(done.out) == ["LLM002", "DEM101", "DEM101"]
    assert done.err == ""
    assert "Traceback" in run("check", "--verbose").err


def test_a_bug_of_our_own_in_one_file_stops_no_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a.py", "LOUD\n")
    write("b.py", "LOUD\n")
    real = Project.world_for

    def world_for(project: Project, file: ProjectFile, installs: Iterable[str] = ()) -> World:
        if file.shown_path == "a.py":
            raise RecursionError("too deep")
        return real(project, file, installs)

    monkeypatch.setattr(Project, "world_for", world_for)
    done = run("check", "--output-format", "concise", "-q")
    assert done.code == 1
    assert done.out.splitlines() == [
        "a.py:1:1: error LLM002 not-analysed: llm-lint failed on this file: RecursionError: too deep",
        "b.py:1:1: error DEM101 loud-word: `LOUD` is shouted [unsafe fix]",
    ]
    assert done.err == ""
    for option in ("--diff", "--add-noqa"):
        done = run("check", option, "a.py")
        assert done.code == 2
        assert "RecursionError" in done.err


# ---------------------------------------------------------------- fixes


def test_fix_applies_safe_fixes_only(run: Run) -> None:
    file = write("a.py", TEXT)
    done = run("check", "--fix", "--output-format", "concise")
    assert file.read_bytes() == PLAIN_FIXED.encode()
    assert done.code == 1
    assert "DEM102" not in done.out
    assert done.out.endswith(
        "Fixed 1 problem; found 2 problems (1 error, 1 information) in 1 file; 1 can be fixed with --unsafe-fixes.\n"
    )


def test_unsafe_fixes_are_applied_when_asked_for(run: Run) -> None:
    file = write("a.py", TEXT)
    done = run("check", "--fix", "--unsafe-fixes")
    assert file.read_bytes() == ALL_FIXED.encode()
    assert done.code == 0
    assert done.out.endswith("Fixed 2 problems; found 1 problem (1 information) in 1 file.\n")


def test_unsafe_fixes_without_fix_changes_nothing(run: Run) -> None:
    file = write("a.py", TEXT)
    done = run("check", "--unsafe-fixes")
    assert file.read_bytes() == TEXT.encode()
    assert "2 can be fixed with --fix --unsafe-fixes." in done.out


def test_exit_non_zero_on_fix(run: Run) -> None:
    write("a.py", "PLAIN\n")
    assert run("check", "--fix", "--exit-non-zero-on-fix").code == 1
    assert run("check", "--fix", "--exit-non-zero-on-fix").code == 0


def test_show_fixes_lists_what_was_done(run: Run) -> None:
    write("a.py", TEXT)
    done = run("check", "--fix", "--unsafe-fixes", "--show-fixes", "-q")
    assert done.out.endswith("Fixed 2 problems in a.py:\n  1 x DEM101 loud-word\n  1 x DEM102 plain-word\n")
    assert run("check", "--fix", "--show-fixes", "-q").out.count("Fixed") == 0


def test_diff_prints_and_writes_nothing(run: Run) -> None:
    file = write("a.py", TEXT)
    done = run("check", "--diff")
    assert done == (
        1,
        '--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n x = LOUD\n-y = PLAIN  # SMALL\n+y = fancy  # SMALL\n z = "é"\n',
        "Would fix 1 problem in 1 file; 1 more with --unsafe-fixes.\n",
    )
    assert file.read_bytes() == TEXT.encode()
    assert "+x = calm" in run("check", "--diff", "--unsafe-fixes").out
    assert run("check", "--diff", "--exit-zero").code == 0


def test_diff_without_changes_is_empty_and_says_what_unsafe_fixes_there_are(run: Run) -> None:
    write("a.py", "LOUD\n")
    assert run("check", "--diff") == (0, "", "No fix is safe; 1 can be shown with --unsafe-fixes.\n")
    assert run("check", "--diff", "--quiet") == (0, "", "")
    write("a.py", "SMALL\n")
    assert run("check", "--diff", "--unsafe-fixes") == (0, "", "")


def test_a_file_that_cant_be_written_is_named_and_reported_as_it_is(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from llm_lsp import fixes

    def write_nothing(path: Path, before: bytes, after: bytes) -> None:
        raise fixes.NotWritten(path, "the disk is full")

    monkeypatch.setattr(fixes, "write", write_nothing)
    file = write("a.py", "PLAIN\n")
    done = run("check", "--fix", "--output-format", "concise")
    assert done.code == 2
    assert "the disk is full" in done.err
    assert "DEM102" in done.out
    assert "Fixed" not in done.out
    assert file.read_bytes() == b"PLAIN\n"
    assert run("check", "--fix", "--exit-zero").code == 2


def test_fixes_that_do_not_settle_are_an_error_and_the_file_stays(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from llm_lsp import fixes

    def fix(source: Source, lint: object, *, unsafe: bool) -> fixes.Fixed:
        raise fixes.FixesDoNotSettle(source.path, ["DEM101", "DEM102"])

    monkeypatch.setattr(fixes, "fix", fix)
    write("a.py", "PLAIN\n")
    done = run("check", "--fix", "--output-format", "concise")
    assert done.code == 2
    assert "DEM101, DEM102" in done.err
    assert "DEM102 plain-word" in done.out


def test_add_noqa_silences_what_is_found(run: Run) -> None:
    file = write("a.py", TEXT)
    done = run("check", "--add-noqa")
    assert done == (0, "", "Suppressed 3 problems in 1 file.\n")
    assert file.read_bytes().decode() == (
        'x = LOUD  # noqa: DEM101\ny = PLAIN  # SMALL  # noqa: DEM102, DEM103\nz = "é"\n'
    )
    assert run("check", "-q") == (0, "", "")


def test_add_noqa_leaves_a_file_with_a_syntax_error_alone(run: Run) -> None:
    file = write("a.py", "LOUD\nx = (\n")
    run("check", "--add-noqa")
    assert file.read_bytes() == b"LOUD\nx = (\n"


# ---------------------------------------------------------------- stdin


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return give


def test_stdin_is_checked_under_its_name(run: Run, stdin: Callable[[bytes], None]) -> None:
    write("sub/llm-lint.toml", 'ignore = ["DEM101"]\n')
    stdin(TEXT.encode())
    done = run("check", "-", "--stdin-filename", "sub/a.py", "--output-format", "json")
    assert codes(done.out) == ["DEM102", "DEM103"]
    assert json.loads(done.out)[0]["filename"] == "sub/a.py"
    stdin(b"LOUD\n")
    assert run("check", "-", "-q", "--output-format", "concise").out.startswith("-:1:1: error DEM101")


def test_stdin_with_fix_prints_the_fixed_text_and_reports_elsewhere(run: Run, stdin: Callable[[bytes], None]) -> None:
    crlf = TEXT.replace("\n", "\r\n").encode()
    stdin(crlf)
    done = run("check", "-", "--fix", "--output-format", "concise")
    assert done.code == 1
    assert done.out.encode() == crlf.replace(b"PLAIN", b"fancy")
    assert "DEM101" in done.err


def test_stdin_that_needs_no_fix_comes_out_as_it_was(run: Run, stdin: Callable[[bytes], None]) -> None:
    for data in (b"x = 1", b"", b"def (:\n"):
        stdin(data)
        assert run("check", "-", "--fix", "-q").out.encode() == data


def test_stdin_with_diff_prints_the_diff(run: Run, stdin: Callable[[bytes], None]) -> None:
    stdin(b"PLAIN\n")
    done = run("check", "-", "--diff")
    assert done.code == 1
    assert done.out == "--- -\n+++ -\n@@ -1 +1 @@\n-PLAIN\n+fancy\n"


def test_stdin_of_an_excluded_file_passes_through(run: Run, stdin: Callable[[bytes], None]) -> None:
    write("llm-lint.toml", 'exclude = ["vendored"]\n')
    arguments = ("check", "-", "--stdin-filename", "vendored/a.py", "-q")
    stdin(b"PLAIN\n")
    assert run(*arguments, "--force-exclude", "--fix").out == "PLAIN\n"
    stdin(b"PLAIN\n")
    assert run(*arguments, "--fix").out == "fancy\n"


def test_a_notebook_may_come_from_stdin(run: Run, stdin: Callable[[bytes], None]) -> None:
    cells = [{"cell_type": "markdown", "source": ["hello"]}, {"cell_type": "code", "source": ["x = 1\n", "LOUD"]}]
    notebook: dict[str, Any] = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    stdin(json.dumps(notebook).encode())
    (found,) = json.loads(run("check", "-", "--stdin-filename", "a.ipynb", "--output-format", "json").out)
    assert (found["cell"], found["location"]) == (2, {"row": 2, "column": 1})


# ---------------------------------------------------------------- output


def test_the_output_format_comes_from_option_then_variable_then_settings(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.py", "LOUD\n")
    write("llm-lint.toml", 'output-format = "json"\n')
    assert run("check").out.startswith("[")
    monkeypatch.setenv("LLM_LINT_OUTPUT_FORMAT", "json-lines")
    assert run("check").out.startswith("{")
    assert run("check", "--output-format", "github").out.startswith("::error")
    monkeypatch.setenv("LLM_LINT_OUTPUT_FORMAT", "yaml")
    done = run("check")
    assert done.code == 2
    assert "LLM_LINT_OUTPUT_FORMAT: `yaml`" in done.err


def test_formats_for_machines_have_no_summary(run: Run) -> None:
    write("a.py", TEXT)
    for name in ("json", "gitlab", "sarif"):
        json.loads(run("check", "--output-format", name).out)
    for line in run("check", "--output-format", "json-lines").out.splitlines():
        json.loads(line)
    ET.fromstring(run("check", "--output-format", "junit").out)  # noqa: S314 - our own
    assert all(line.startswith("::") for line in run("check", "--output-format", "github").out.splitlines())


def test_sarif_explains_the_rules_it_reports(run: Run) -> None:
    write("a.py", "LOUD\nx = (\n")
    log = json.loads(run("check", "--output-format", "sarif").out)
    texts = {rule["id"]: rule["help"]["text"] for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert texts["DEM101"] == "A word is shouted.\n\nNobody listens to those who shout."
    assert texts["LLM000"].startswith("The file is not Python")


def test_output_file_holds_the_report_and_the_terminal_nothing(run: Run) -> None:
    write("a.py", "x = 'é', LOUD\n")
    done = run("check", "--output-file", "report.txt")
    assert (done.code, done.out, done.err) == (1, "", "")
    report = Path("report.txt").read_bytes()
    assert b"\r" not in report
    assert "1 | x = 'é', LOUD\n" in report.decode()
    assert report.decode().endswith("with --unsafe-fixes.\n")


def test_statistics_replace_the_reports(run: Run) -> None:
    write("a.py", "LOUD; LOUD; PLAIN\n")
    assert run("check", "--statistics", "-q").out == "2 DEM101 loud-word\n1 DEM102 plain-word\n"


def test_show_files_and_show_settings_lint_nothing(run: Run) -> None:
    write("a.py", "CRASH\n")
    write("sub/b.ipynb", "{}")
    write("llm-lint.toml", 'ignore = ["DEM101"]\n')
    assert run("check", "--show-files") == (0, "a.py\nsub/b.ipynb\n", "")
    done = run("check", "--show-settings", "--ignore", "DEM102")
    assert done.code == 0
    assert 'ignore = ["DEM101", "DEM102"]  # --ignore, llm-lint.toml:1\n' in done.out
    assert 'fail-on = "warning"  # default\n' in done.out


def test_excluded_files_count_when_they_are_named_unless_forced(run: Run) -> None:
    write("skip/a.py", "LOUD\n")
    write("llm-lint.toml", 'extend-exclude = ["skip"]\n')
    assert check_codes(run) == []
    assert check_codes(run, "skip/a.py") == ["DEM101"]
    assert check_codes(run, "skip/a.py", "--force-exclude") == []


def test_no_cache_is_accepted(run: Run) -> None:
    write("a.py", "LOUD\n")
    assert check_codes(run, "--no-cache") == ["DEM101"]


def test_a_file_alone_is_reported_as_in_its_project(run: Run) -> None:
    write("a.py", TEXT)
    write("b.py", TEXT)
    whole = [found for found in json.loads(run("check", "--output-format", "json").out) if found["filename"] == "a.py"]
    assert json.loads(run("check", "--output-format", "json", "a.py").out) == whole


# ---------------------------------------------------------------- processes


def environment(**more: str) -> Mapping[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "rules"), str(PACK)]), **more}


def process(*arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "llm_lsp", *arguments]
    return subprocess.run(command, capture_output=True, check=False, env=environment(**variables))


def test_the_module_is_the_command() -> None:
    write("a.py", "LOUD\n")
    done = process("check", "-q", "--output-format", "concise")
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout == b"a.py:1:1: error DEM101 loud-word: `LOUD` is shouted [unsafe fix]\n"


def test_a_console_without_the_characters_gets_escapes() -> None:
    write("a.py", "x = '日本', LOUD\n")
    done = process("check", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1
    assert done.stderr == b""
    assert rb"1 | x = '\u65e5\u672c', LOUD" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another error there")
@pytest.mark.parametrize("lines", [1, 500])
def test_a_reader_that_leaves_early_ends_it_quietly(lines: int) -> None:
    # Much for one buffer: the first write fails in the middle of the report. Little: the last one does.
    write("a.py", "SMALL\n" * lines)
    read, written = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "llm_lsp", "check"]
    done = subprocess.run(command, stdout=written, stderr=subprocess.PIPE, check=False, env=environment())
    os.close(written)
    assert done.stderr == b""
    assert done.returncode == 141


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
@pytest.mark.parametrize(
    ("closed", "code", "is_shown"),
    [
        ("<&-", 1, True),
        (">&-", 1, False),
        ("2>&-", 1, True),
        ("<&- >&- 2>&-", 1, False),
        ("- <&-", 2, False),
        ("missing.py 2>&-", 2, False),
    ],
)
def test_a_closed_stream_changes_neither_the_work_nor_the_exit_code(closed: str, code: int, is_shown: bool) -> None:
    write("a.py", "LOUD\n")
    command = ["sh", "-c", f'exec "$0" -m llm_lsp check {closed}', sys.executable]
    done = subprocess.run(command, capture_output=True, check=False, env=environment())
    stdin_is_missed = b"llm-lint: stdin is closed, so `-` has nothing to read\n" if closed.startswith("-") else b""
    assert (done.returncode, done.stderr) == (code, stdin_is_missed)
    assert (b"LOUD" in done.stdout) is is_shown


def test_a_bug_of_our_own_is_an_error_and_nothing_found(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def files(project: Project) -> Iterable[ProjectFile]:
        raise ZeroDivisionError("no files by zero")

    monkeypatch.setattr(Project, "files", files)
    done = run("check")
    assert done.code == 2
    assert "Traceback" in done.err
    assert done.err.endswith("llm-lint: no files by zero\n")


def test_an_interrupt_is_quiet(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def source(project: Project, file: ProjectFile) -> Source:
        raise KeyboardInterrupt

    monkeypatch.setattr(Project, "source", source)
    write("a.py", "LOUD\n")
    assert run("check") == (130, "", "")
