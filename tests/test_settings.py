"""Settings files: what they may say, and that what they say wrongly is told with its line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from llm_lsp import __version__
from llm_lsp.diagnostic import Severity
from llm_lsp.settings import Settings, SettingsError, check_codes, find, keys, load, schema, unknown_selector
from llm_lsp.toml import parse

ROOT = Path(__file__).resolve().parents[1]
KNOWN = {"LLM101": "tokenizer-of-another-model", "LLM301": "gradients-in-inference", "LLM303": "half-on-cpu"}

EVERYTHING = """\
select = ["LLM1", "half-on-cpu"]
extend-select = ["LLM301"]
ignore = ["LLM303"]
exclude = ["old/"]
extend-exclude = ["*_pb2.py"]
respect-gitignore = false
force-exclude = true
fail-on = "error"
max-source-size = 5_000
python = "env"
output-format = "json-lines"
required-version = ">=0.1"

[per-file-ignores]
"tests/**" = ["LLM301"]

[severity]
LLM101 = "information"
half-on-cpu = "off"

[target-versions]
transformers = ">=4.40,<5"
"""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def refused(path: Path) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load(path)
    return caught.value


def test_every_key_is_read(tmp_path: Path) -> None:
    settings = load(write(tmp_path / "llm-lint.toml", EVERYTHING))
    assert settings == Settings(
        select=("LLM1", "half-on-cpu"),
        extend_select=("LLM301",),
        ignore=("LLM303",),
        exclude=("old/",),
        extend_exclude=("*_pb2.py",),
        respect_gitignore=False,
        force_exclude=True,
        fail_on=Severity.ERROR,
        max_source_size=5_000,
        python=tmp_path / "env",
        output_format="json-lines",
        required_version=">=0.1",
        per_file_ignores={"tests/**": ("LLM301",)},
        severity={"LLM101": Severity.INFORMATION, "half-on-cpu": None},
        target_versions={"transformers": ">=4.40,<5"},
        root=tmp_path,
        files=(tmp_path / "llm-lint.toml",),
    )
    assert {key.name for key in keys()} - set(parse(EVERYTHING)) == {"extend"}, "a key that no test reads"


def test_pyproject_and_own_file_say_the_same_thing(tmp_path: Path) -> None:
    own = load(write(tmp_path / "llm-lint.toml", 'ignore = ["LLM301"]\n'))
    table = load(write(tmp_path / "pyproject.toml", '[tool.llm-lint]\nignore = ["LLM301"]\n'))
    assert own.ignore == table.ignore == ("LLM301",)


def test_a_byte_order_mark_and_crlf_are_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "llm-lint.toml"
    path.write_bytes(b'\xef\xbb\xbfignore = ["LLM301"]\r\nselct = []\r\n')
    assert refused(path).line == 2


# ---------------------------------------------------------------- where they are found


def test_the_nearest_pyproject_that_has_the_table_counts(tmp_path: Path) -> None:
    outer = write(tmp_path / "pyproject.toml", "[tool.llm-lint]\n")
    write(tmp_path / "a/pyproject.toml", "[tool.ruff]\n# llm-lint is configured one folder up\n")
    inner = write(tmp_path / "a/b/c/llm-lint.toml", "")
    assert find(tmp_path / "a/b/x.py") == outer
    assert find(tmp_path / "a/b/c/d/x.py") == inner


@pytest.mark.parametrize("names", [(".llm-lint.toml", "llm-lint.toml"), ("llm-lint.toml", "pyproject.toml")])
def test_of_two_files_in_one_folder_the_more_special_one_counts(tmp_path: Path, names: tuple[str, str]) -> None:
    for name in names:
        write(tmp_path / name, "[tool.llm-lint]\n")
    assert find(tmp_path / "x.py") == tmp_path / names[0]


def test_a_broken_pyproject_of_another_tool_is_none_of_our_business(tmp_path: Path) -> None:
    outer = write(tmp_path / "llm-lint.toml", "")
    write(tmp_path / "a/pyproject.toml", "[tool.ruff\n")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/pyproject.toml").write_bytes(b"\xff\xfe[\x00t\x00")
    assert find(tmp_path / "a/x.py") == outer
    assert find(tmp_path / "b/x.py") == outer


def test_a_broken_pyproject_that_names_us_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "pyproject.toml", "[tool.llm-lint]\nselect = [\n")
    with pytest.raises(SettingsError, match=r"pyproject\.toml:2: not TOML"):
        find(tmp_path / "x.py")


def test_a_folder_named_like_a_settings_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "llm-lint.toml").mkdir()
    (tmp_path / "pyproject.toml").mkdir()
    assert find(tmp_path / "x.py") != tmp_path / "llm-lint.toml"


# ---------------------------------------------------------------- extend


def test_a_nearer_key_replaces_and_extend_keys_add_up(tmp_path: Path) -> None:
    base = (
        'select = ["LLM1"]\nignore = ["LLM301"]\nextend-exclude = ["a"]\n[severity]\nLLM101 = "error"\nLLM301 = "off"\n'
    )
    write(tmp_path / "shared/base.toml", base)
    nearer = 'extend = "../shared/base.toml"\nignore = []\nextend-exclude = ["b"]\n[severity]\nLLM301 = "warning"\n'
    settings = load(write(tmp_path / "p/llm-lint.toml", nearer))
    assert settings.select == ("LLM1",)
    assert settings.ignore == ()
    assert settings.extend_exclude == ("a", "b")
    assert settings.severity == {"LLM101": Severity.ERROR, "LLM301": Severity.WARNING}
    assert settings.files == (tmp_path / "p/llm-lint.toml", tmp_path / "shared/base.toml")
    assert settings.root == tmp_path / "p"


def test_paths_count_from_the_file_that_names_them(tmp_path: Path) -> None:
    write(tmp_path / "shared/base.toml", 'python = "env"\n')
    assert (
        load(write(tmp_path / "p/llm-lint.toml", 'extend = "../shared/base.toml"\n')).python == tmp_path / "shared/env"
    )


@pytest.mark.parametrize("second", ["a.toml", "b.toml", "../p/./a.toml"])
def test_a_circle_of_extends_is_told(tmp_path: Path, second: str) -> None:
    write(tmp_path / "p/b.toml", f'\n\nextend = "{second}"\n')
    error = refused(write(tmp_path / "p/a.toml", 'extend = "b.toml"\n'))
    assert (error.path, error.line) == (tmp_path / "p/b.toml", 3)
    assert "circle" in error.message


def test_a_missing_base_is_reported_where_it_is_named(tmp_path: Path) -> None:
    error = refused(write(tmp_path / "pyproject.toml", '[tool.llm-lint]\n# base\nextend = "none.toml"\n'))
    assert (error.path.name, error.line) == ("pyproject.toml", 3)
    assert "none.toml" in error.message


def test_a_base_without_the_table_is_reported(tmp_path: Path) -> None:
    write(tmp_path / "base/pyproject.toml", "[tool.ruff]\n")
    error = refused(write(tmp_path / "llm-lint.toml", 'extend = "base/pyproject.toml"\n'))
    assert "no table [tool.llm-lint]" in str(error)


def test_a_fault_in_a_base_is_reported_in_the_base(tmp_path: Path) -> None:
    write(tmp_path / "base.toml", "\nfail-on = 3\n")
    error = refused(write(tmp_path / "llm-lint.toml", 'extend = "base.toml"\n'))
    assert (error.path.name, error.line) == ("base.toml", 2)


# ---------------------------------------------------------------- what is wrong is told


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('\nselct = ["LLM1"]\n', 2, "unknown key `selct`; did you mean `select`?"),
        ("per_file_ignores = {}\n", 1, "did you mean `per-file-ignores`?"),
        ("Select = []\n", 1, "did you mean `select`?"),
        ("quux = 1\n", 1, "`llm-lint config` lists them all"),
        ("[lint]\nselect = ['LLM1']\n", 1, "unknown key `lint`"),
        ("[tool.llm-lint]\nselect = ['LLM1']\n", 1, "top level"),
        ("# one\nselect = 'LLM1'\n", 2, "`select` must be a list of codes"),
        ("select = []\n", 1, "`select` must not be empty: leave it out"),
        ("ignore = [\n  'LLM1',\n  3,\n]\n", 3, "`ignore[1]` must be a string, not `3`"),
        ("ignore = [\n  'LLM1',\n  '',\n]\n", 3, "must not be empty"),
        ("[per-file-ignores]\n'a' = ['LLM1']\n'b.py' = 'LLM1'\n", 3, "`per-file-ignores.b.py` must be a list"),
        ("severity.LLM101 = 'fatal'\n", 1, '"error", "warning", "information", "off", not `\'fatal\'`'),
        ("severity = ['LLM101']\n", 1, "`severity` must be a table"),
        ("\nfail-on = 'info'\n", 2, '"never"'),
        ("max-source-size = 0\n", 1, "above 0, not `0`"),
        ("max-source-size = true\n", 1, "not `true`"),
        ("max-source-size = 1.5\n", 1, "not a number"),
        ("max-source-size = 1979-05-27\n", 1, "not a date or time"),
        ("force-exclude = 1\n", 1, "`force-exclude` must be true or false, not `1`"),
        ("output-format = 'xml'\n", 1, '"sarif"'),
        ("[target-versions]\ntorch = '>=2'\ntransformers = '5.1'\n", 3, "did you mean `==5.1`?"),
        ("[target-versions]\ntransformers = '=>5'\n", 2, "must be a version specifier"),
        ("[target-versions]\ntransformers = ''\n", 2, "leave it out"),
        ("[target-versions]\ntransformers = 5\n", 2, "must be a version specifier"),
        ("python = ''\n", 1, "must not be empty"),
        ('python = "a\\u0000b"\n', 1, "null character"),
        ("exclude = [\n'a',\n'!'\n]", 3, "`exclude[1]` must be a pattern as in .gitignore, not `!`"),
        ("extend-exclude = ['***']\n[per-file-ignores]\n'/' = []\n", 3, "must be a pattern as in .gitignore"),
        ("exclude = ['#x']", 1, "must be a pattern"),
        ("required-version = 'latest'\n", 1, "must be a version specifier"),
        ("\nselect = [\n", 2, "not TOML"),
    ],
)
def test_a_wrong_setting_is_told_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    own = refused(write(tmp_path / "llm-lint.toml", text))
    assert own.line == line
    assert words in own.message


def test_the_line_is_that_of_the_table_among_others(tmp_path: Path) -> None:
    text = '[project]\nselct = 1\n[tool.other]\nselct = 2\n\n[tool."llm-lint"] # ours\nignore = []\nselct = 3\n'
    error = refused(write(tmp_path / "pyproject.toml", text))
    assert error.line == 8
    assert str(error).endswith("pyproject.toml:8: unknown key `selct` in [tool.llm-lint]; did you mean `select`?")


def test_a_table_that_is_no_table_is_told(tmp_path: Path) -> None:
    error = refused(write(tmp_path / "pyproject.toml", "[tool]\nllm-lint = true\n"))
    assert (error.line, "must be a table" in error.message) == (2, True)


def test_bytes_that_are_not_utf8_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "llm-lint.toml"
    path.write_bytes(b"# one\n# caf\xe9\n")
    assert refused(path).line == 2


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    error = refused(tmp_path / "none.toml")
    assert error.line is None
    assert str(error).count("none.toml") == 1


def test_another_release_refuses_before_it_stumbles_over_keys_it_does_not_know(tmp_path: Path) -> None:
    error = refused(write(tmp_path / "llm-lint.toml", 'key-of-the-future = 1\nrequired-version = ">=999"\n'))
    assert error.line == 2
    assert f"this is {__version__}" in error.message


# ---------------------------------------------------------------- codes


@pytest.mark.parametrize("selector", ["LLM101", "LLM1", "LLM", "half-on-cpu", "ALL"])
def test_codes_prefixes_and_names_are_known(selector: str) -> None:
    assert unknown_selector(selector, KNOWN) is None


@pytest.mark.parametrize(
    ("selector", "suggested"),
    [("LLM102", "LLM101"), ("half-on-gpu", "half-on-cpu"), ("half_on_cpu", "half-on-cpu"), ("llm303", "LLM303")],
)
def test_an_unknown_rule_gets_the_nearest_one(selector: str, suggested: str) -> None:
    assert unknown_selector(selector, KNOWN) == f"unknown rule `{selector}`; did you mean `{suggested}`?"


def test_nothing_near_is_not_invented() -> None:
    assert unknown_selector("E501", KNOWN) == "unknown rule `E501`"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("select = [\n'LLM1',\n'LLM9',\n]\n", 3),
        ("select = ['LLM1']\nextend-select = ['LLM9']\n", 2),
        ("ignore = [\n\n'LLM9']\n", 3),
        ("[per-file-ignores]\n'a' = ['LLM1']\n'b' = ['LLM1',\n'LLM9']\n", 4),
        ("[severity]\nLLM101 = 'off'\nLLM9 = 'off'\n", 3),
        ("[severity]\n\nLLM1 = 'off'\n", 3),
    ],
)
def test_an_unknown_rule_in_the_settings_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    settings = load(write(tmp_path / "llm-lint.toml", text))
    with pytest.raises(SettingsError, match="unknown rule") as caught:
        check_codes(settings, KNOWN)
    assert (caught.value.path, caught.value.line) == (tmp_path / "llm-lint.toml", line)


def test_an_unknown_rule_in_a_base_is_told_there(tmp_path: Path) -> None:
    write(tmp_path / "base.toml", "\n\nignore = ['LLM9']\n")
    settings = load(write(tmp_path / "llm-lint.toml", "extend = 'base.toml'\n"))
    with pytest.raises(SettingsError, match=r"base\.toml:3: unknown rule"):
        check_codes(settings, KNOWN)


def test_known_rules_pass(tmp_path: Path) -> None:
    check_codes(load(write(tmp_path / "llm-lint.toml", EVERYTHING)), KNOWN)


# ---------------------------------------------------------------- per-file-ignores


@pytest.mark.parametrize(
    ("pattern", "file", "ignored"),
    [
        ("tests/**", "tests/a/b.py", True),
        ("tests/", "tests/a/b.py", True),
        ("tests", "deep/tests/b.py", True),
        ("/tests", "deep/tests/b.py", False),
        ("*.ipynb", "a/b.ipynb", True),
        ("a/*.py", "a/b/c.py", False),
        ("a/**/c.py", "a/b/c.py", True),
        ("b.py", "a/b.py", True),
        ("!src/", "src/a.py", False),
        ("!src/", "lib/a.py", True),
    ],
)
def test_per_file_ignores_are_patterns_as_in_gitignore(tmp_path: Path, pattern: str, file: str, ignored: bool) -> None:
    settings = Settings(per_file_ignores={pattern: ("LLM301",)}, root=tmp_path)
    assert settings.ignored_in(tmp_path / file) == (("LLM301",) if ignored else ())


def test_a_file_outside_the_root_is_matched_by_its_name_alone(tmp_path: Path) -> None:
    settings = Settings(per_file_ignores={"*.ipynb": ("LLM301",), "p/": ("LLM303",)}, root=tmp_path / "r")
    assert settings.ignored_in(tmp_path / "p/x.ipynb") == ("LLM301",)


# ---------------------------------------------------------------- schema, description, start-up


def test_the_committed_schema_is_current() -> None:
    committed = json.loads((ROOT / "llm-lint.schema.json").read_text(encoding="utf-8"))
    assert committed == schema(), "write llm_lsp.settings.schema() to llm-lint.schema.json"


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(schema())


@pytest.mark.parametrize("text", ["", EVERYTHING, 'extend = "base.toml"\n', 'fail-on = "never"\n'])
def test_the_schema_takes_what_the_reader_takes(text: str) -> None:
    jsonschema.validate(parse(text), schema())


@pytest.mark.parametrize(
    "text",
    [
        "selct = []",
        "select = []",
        "select = 'LLM1'",
        "ignore = [3]",
        "severity.LLM101 = 'fatal'",
        "fail-on = 'off'",
        "max-source-size = 0",
        "max-source-size = true",
        "force-exclude = 1",
        "output-format = 'xml'",
        "target-versions.transformers = '5.1'",
        "python = ''",
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path, text: str) -> None:
    refused(write(tmp_path / "llm-lint.toml", text))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(parse(text), schema())


def test_the_settings_in_force_can_be_shown_as_json(tmp_path: Path) -> None:
    shown = load(write(tmp_path / "llm-lint.toml", EVERYTHING)).shown()
    assert json.loads(json.dumps(shown)) == shown
    assert shown["severity"] == {"LLM101": "information", "half-on-cpu": "off"}
    assert shown["fail-on"] == "error"
    assert shown["per-file-ignores"] == {"tests/**": ["LLM301"]}


def test_what_is_shown_can_be_written_as_settings(tmp_path: Path) -> None:
    shown: Mapping[str, Any] = {key: value for key, value in Settings(root=tmp_path).shown().items() if value}
    jsonschema.validate(dict(shown), schema())


def test_the_parser_is_loaded_only_where_there_are_settings(tmp_path: Path) -> None:
    write(tmp_path / "bare/pyproject.toml", "[tool.ruff]\n")
    write(tmp_path / "set/pyproject.toml", "[tool.llm-lint]\n")
    script = (
        "import sys; from pathlib import Path; from llm_lsp.settings import find; find(Path(sys.argv[1]));"
        "print([m for m in ('tomllib', 'tomli', 'packaging', 'pathspec', 'difflib', 'json') if m in sys.modules])"
    )

    def loaded(folder: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / folder / "x.py")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    assert loaded("bare") == "[]"
    assert loaded("set") in ("['tomllib']", "['tomli']")
