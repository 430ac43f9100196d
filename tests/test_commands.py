"""`llm-lint rule` and `llm-lint config`, with the rules of `demo_pack`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

pytestmark = pytest.mark.usefixtures("demo_project")


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return file


def test_rule_explains_by_code_and_by_name(run: Run) -> None:
    said = (
        "DEM101 loud-word\nerror, on by default, has an unsafe fix\n\n"
        "A word is shouted.\n\nNobody listens to those who shout.\n"
    )
    for word in ("DEM101", "dem101", "loud-word"):
        assert run("rule", word) == (0, said, "")
    assert "off by default, has no fix" in run("rule", "DEM104").out


def test_rule_suggests_what_was_meant(run: Run) -> None:
    assert "did you mean `loud-word`?" in run("rule", "loud-wrod").err


def test_all_rules_as_json(run: Run) -> None:
    listed = {rule["code"]: rule for rule in json.loads(run("rule", "--all", "--output-format", "json").out)}
    assert listed["DEM104"] == {
        "code": "DEM104",
        "name": "rude-word",
        "severity": "warning",
        "default": False,
        "fix": "none",
        "explanation": "A word is rude, to the taste of some.",
    }
    assert listed["LLM001"]["fix"] == "safe"
    assert json.loads(run("rule", "DEM104", "--output-format", "json").out) == listed["DEM104"]


def test_all_rules_as_text_is_a_table(run: Run) -> None:
    lines = run("rule", "--all").out.splitlines()
    assert "DEM104 rude-word off A word is rude, to the taste of some." in [" ".join(line.split()) for line in lines]


def test_config_says_where_each_setting_and_version_comes_from(run: Run) -> None:
    write(
        "pyproject.toml",
        '[project]\nname = "p"\ndependencies = ["transformers>=4.50"]\n\n[tool.llm-lint]\nextend = "more.toml"\nignore = ["DEM101"]\n',
    )
    write("more.toml", 'extend-select = ["DEM104"]\n[target-versions]\ntorch = ">=2.6"\n')
    done = run("config")
    assert done.code == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert 'ignore = ["DEM101"]  # pyproject.toml:7' in lines
    assert 'extend-select = ["DEM104"]  # more.toml:1' in lines
    assert "force-exclude = false  # default" in lines
    assert "torch >=2.6  # target-versions" in lines
    assert "transformers >=4.50  # pyproject.toml" in lines


def test_config_names_the_rules_that_run_and_writes_nothing_that_settings_can_not_hold(run: Run) -> None:
    write("llm-lint.toml", 'ignore = ["DEM101"]\n')
    done = run("config")
    rules = done.out.splitlines()[done.out.splitlines().index("# rules") + 1].split(", ")
    assert "DEM102" in rules
    assert "DEM101" not in rules
    write("llm-lint.toml", done.out.partition("# rules")[0])
    again = run("config")
    assert again.code == 0, again.err
    assert again.out.splitlines()[again.out.splitlines().index("# rules") + 1].split(", ") == rules


def test_config_names_the_environment(run: Run) -> None:
    (Path("env/lib/python3.11/site-packages/torch-2.7.0.dist-info")).mkdir(parents=True)
    lines = run("config", "--python", "env").out.splitlines()
    assert "env/lib/python3.11/site-packages  # --python" in lines
    assert any(line.startswith("torch ==2.7.0  # ") for line in lines)


def test_config_of_a_file_takes_its_folders_settings(run: Run) -> None:
    write("sub/llm-lint.toml", 'ignore = ["DEM102"]\n')
    write("sub/a.py", "")
    assert 'ignore = ["DEM102"]  # sub/llm-lint.toml:1\n' in run("config", "sub/a.py").out
    assert 'ignore = ["DEM102"]  # sub/llm-lint.toml:1\n' in run("config", "sub").out
    assert "ignore = []  # default\n" in run("config", ".").out
