"""Which versions a project admits, and where it says so."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from llm_lsp import declarations
from llm_lsp.cli import main
from llm_lsp.examples import ExampleWorld
from llm_lsp.facts import NO, UNKNOWN, YES, Facts, Truth
from llm_lsp.facts.named_versions import requirement_by_names
from llm_lsp.project import Project
from llm_lsp.settings import SettingsError, load
from llm_lsp.source import Source
from llm_lsp.versions import Requirement, is_specifier, normalised


@pytest.fixture(autouse=True)
def _no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def declared(folder: Path) -> dict[str, tuple[str, ...]]:
    return {
        name: requirement.alternatives
        for name, requirement in declarations.read(folder, [path.name for path in folder.iterdir()]).items()
    }


def version(file: Path, distribution: str = "transformers", *, isolated: bool = False) -> Requirement | None:
    project = Project(isolated=isolated)
    return project.world_for(project.file(file)).version(distribution)


# ---------------------------------------------------------------- questions


@pytest.mark.parametrize(
    ("range_", "specifier", "admits", "within"),
    [
        (">=5", ">=5", True, True),
        (">=5", "<5", False, False),
        (">=4.40,<5", ">=5", False, False),
        (">=4.40,<5", "<5", True, True),
        (">=4.40", ">=5", True, False),
        (">=4.40", "<5", True, False),
        ("==4.57.1", ">=5", False, False),
        ("==4.57.1", ">=4.57,<5", True, True),
        ("~=4.40", ">=4.99", True, False),
        ("~=4.40", ">=5", False, False),
        ("~=4.40.1", ">=4.41", False, False),
        ("==4.*", ">=4.30", True, False),
        ("==4.*", "<5", True, True),
        ("==4.57.*", ">4.57.3,<4.58", True, False),
        ("!=5.0", "==5.0", False, False),
        (">4.57,<4.58", "==4.57.*", True, True),
        (">5", "<=5", False, False),
        ("<5", ">=4.99", True, False),
        (">=5,<6", ">=5,<6", True, True),
        ("==2.3.0+cu121", ">=2.3", True, True),
        ("==5.0.0rc1", ">=5", False, False),
        ("==5.0.0.dev0", "<5", False, False),
        (">=10", ">=9,<10", False, False),
        (">=1!2", "<5", False, False),
        ("", ">=5", True, False),
        ("", "<5", True, False),
        (">=4.40", "", True, True),
    ],
)
def test_a_range_and_a_specifier(range_: str, specifier: str, admits: bool, within: bool) -> None:
    requirement = Requirement((range_,), "test")
    assert requirement.admits(specifier) is admits
    assert requirement.is_within(specifier) is within


NUMBERS = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda numbers: ".".join(map(str, numbers)))
SPECIFIERS = st.lists(
    st.builds(str.__add__, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), NUMBERS)
    | NUMBERS.map("=={}.*".format)
    | NUMBERS.map("~=0.{}".format),
    max_size=3,
).map(",".join)
RELEASES = [f"{a}.{b}.{c}" for a in range(5) for b in range(5) for c in range(5)]


@given(SPECIFIERS, SPECIFIERS)
def test_a_release_that_both_take_is_never_missed(range_: str, specifier: str) -> None:
    requirement, wanted = Requirement((range_,), "test"), SpecifierSet(specifier)
    admitted = [release for release in RELEASES if release in SpecifierSet(range_)]
    assert requirement.admits(specifier) or not any(release in wanted for release in admitted)
    assert not requirement.is_within(specifier) or all(release in wanted for release in admitted)
    low, high = requirement.lower(), requirement.upper()
    assert all(low is None or Version(low) <= Version(release) for release in admitted)
    assert all(high is None or Version(release) <= Version(high) for release in admitted)


def test_alternatives_admit_what_any_of_them_admits() -> None:
    requirement = Requirement(("==4.40", ">=5"), "two files")
    assert requirement.admits("<5")
    assert requirement.admits(">=5")
    assert not requirement.admits(">4.40,<5")
    assert not requirement.is_within(">=5")
    assert requirement.specifier == "==4.40 or >=5"


@pytest.mark.parametrize("unreadable", ["latest", ">=five", "=>5"])
def test_nothing_is_concluded_from_what_cannot_be_read(unreadable: str) -> None:
    requirement = Requirement((unreadable,), "test")
    assert requirement.admits("<5")
    assert not requirement.is_within(">=5")
    assert requirement.lower() is requirement.upper() is None


def test_a_question_that_is_no_specifier_is_a_mistake_of_the_asker() -> None:
    with pytest.raises(ValueError, match="not a version specifier"):
        Requirement((">=5",), "test").admits("five")


@pytest.mark.parametrize(
    ("alternatives", "lower", "upper"),
    [
        ((">=4.40,<5",), "4.40", "5"),
        ((">=4.40,>=4.50",), "4.50", None),
        (("==4.40", ">=5,<6"), "4.40", "6"),
        (("==4.40", "<6"), None, "6"),
        (("==4.57.*",), "4.57", "4.58"),
        (("~=4.40",), "4.40", "5"),
        (("~=4.40.1",), "4.40.1", "4.41"),
        ((">=1.10,<2", ">=1.9,<2"), "1.9", "2"),
        (("!=5",), None, None),
        (("",), None, None),
    ],
)
def test_the_bounds_of_a_range(alternatives: tuple[str, ...], lower: str | None, upper: str | None) -> None:
    requirement = Requirement(alternatives, "test")
    assert (requirement.lower(), requirement.upper()) == (lower, upper)


@pytest.mark.parametrize("name", ["Flash_Attn", "flash-attn", "flash.attn", "FLASH--attn", "flash-_.attn"])
def test_names_are_compared_as_indexes_do(name: str) -> None:
    assert normalised(name) == "flash-attn"


def test_the_empty_text_is_a_specifier_of_everything() -> None:
    assert is_specifier("")
    assert not is_specifier("5")


# ---------------------------------------------------------------- declarations


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("transformers>=4.40,<5", ">=4.40,<5"),
        ("transformers >= 4.40 , < 5", ">= 4.40 , < 5"),
        ("Transformers[torch,sentencepiece]==4.40.0", "==4.40.0"),
        ("transformers (>=4.40)", ">=4.40"),
        ("transformers~=4.40; python_version >= '3.10'", "~=4.40"),
        ("transformers==4.40  # pinned for the paper", "==4.40"),
        ("transformers==4.40.0 --hash=sha256:aa", "==4.40.0"),
        ("transformers==4.40.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb", "==4.40.0"),
        ("transformers @ git+https://example.org/transformers@v4.40", ""),
        ("transformers@ https://example.org/transformers-4.40-py3-none-any.whl", ""),
        ("transformers 4.40", ""),
        ("transformers", None),
        ("transformers[torch]", None),
        ("transformers ; sys_platform == 'linux'", None),
        ("# transformers==4.40", None),
        ("--extra-index-url https://example.org/transformers==4.40", None),
        ("-e .", None),
        ("git+https://example.org/transformers", None),
    ],
)
def test_a_line_of_a_requirements_file(tmp_path: Path, line: str, expected: str | None) -> None:
    write(tmp_path / "requirements.txt", f"numpy<2\n{line}\ntorch>=2\n")
    found = declared(tmp_path)
    assert found.pop("numpy") == ("<2",)
    assert found.pop("torch") == (">=2",)
    assert found.pop("transformers", None) == (None if expected is None else (expected,))
    assert all(alternatives == ("",) for alternatives in found.values())


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-dev.txt", "dev-requirements.txt", "requirements.in"]
)
def test_the_names_that_requirement_files_go_by(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, "torch>=2\n")
    assert declared(tmp_path) == {"torch": (">=2",)}


def test_a_folder_of_requirement_files_counts(tmp_path: Path) -> None:
    write(tmp_path / "requirements/base.txt", "torch>=2\n")
    write(tmp_path / "requirements/README.md", "torch>=9\n")
    assert declared(tmp_path) == {"torch": (">=2",)}


def test_files_that_a_requirements_file_names_are_read_once(tmp_path: Path) -> None:
    write(
        tmp_path / "requirements.txt",
        "-r deps/base.txt\n--constraint=deps/pins.txt\n-r../../outside.txt\n-r gone.txt\n",
    )
    write(tmp_path / "deps/base.txt", "transformers>=4.40\n-r ../requirements.txt\n")
    write(tmp_path / "deps/pins.txt", "torch==2.3\n")
    assert declared(tmp_path) == {"transformers": (">=4.40",), "torch": ("==2.3",)}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "latin-1"])
def test_the_encodings_that_shells_write(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "requirements.txt").write_bytes("# é\r\ntorch==2.3\r\n".encode(encoding))
    assert declared(tmp_path) == {"torch": ("==2.3",)}


def test_files_that_contradict_each_other_are_alternatives(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "transformers==4.40\n")
    write(tmp_path / "requirements-gpu.txt", "transformers>=5\n")
    found = version(write(tmp_path / "x.py", ""))
    assert found is not None
    assert found.admits("<5")
    assert found.admits(">=5")
    assert found.source == "requirements-gpu.txt, requirements.txt"


def test_pyproject_in_all_its_tables(tmp_path: Path) -> None:
    write(
        tmp_path / "pyproject.toml",
        """
        [project]
        dependencies = ["transformers>=4.40; python_version>'3.9'", "numpy", 3]
        optional-dependencies.train = ["accelerate>=1", "transformers>=4.50"]
        [dependency-groups]
        dev = ["trl==0.12", { include-group = "x" }]
        """,
    )
    assert declared(tmp_path) == {
        "transformers": (">=4.40", ">=4.50"),
        "accelerate": (">=1",),
        "trl": ("==0.12",),
    }


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('"^4.40"', (">=4.40,<5",)),
        ('"^0.12.1"', (">=0.12.1,<0.13",)),
        ('"^0.0.3"', (">=0.0.3,<0.0.4",)),
        ('"^0"', (">=0,<1",)),
        ('"~4.40.2"', (">=4.40.2,<4.41",)),
        ('"~4"', (">=4,<5",)),
        ('"4.40.1"', ("==4.40.1",)),
        ('"4.*"', ("==4.*",)),
        ('">=4.40,<5"', (">=4.40,<5",)),
        ('"~=4.40"', ("~=4.40",)),
        ('"^4.40 || ^5"', (">=4.40,<5", ">=5,<6")),
        ('"*"', None),
        ('{ version = "^4.40", extras = ["torch"] }', (">=4.40,<5",)),
        ('{ git = "https://example.org/x", tag = "v4" }', ("",)),
        ('[{ version = "^4", python = "<3.12" }, { version = "^5" }]', (">=4,<5", ">=5,<6")),
        ('"^4.x"', ("",)),
        ("5", None),
    ],
)
def test_the_words_of_poetry(tmp_path: Path, written: str, expected: tuple[str, ...] | None) -> None:
    for table in ("dependencies", "dev-dependencies", "group.train.dependencies"):
        write(tmp_path / "pyproject.toml", f"[tool.poetry.{table}]\nTransformers = {written}\n")
        assert declared(tmp_path).get("transformers") == expected


@pytest.mark.parametrize("text", ["[project\n", "project = 3", "project.dependencies = 'torch>=2'", "tool.poetry = []"])
def test_a_pyproject_that_makes_no_sense_declares_nothing(tmp_path: Path, text: str) -> None:
    write(tmp_path / "pyproject.toml", text)
    assert declared(tmp_path) == {}


def test_setup_cfg(tmp_path: Path) -> None:
    write(
        tmp_path / "setup.cfg",
        "[options]\ninstall_requires =\n    torch>=2\n    # numpy<2\n    transformers\n"
        "[options.extras_require]\ntrain = trl==0.12\n    peft>=0.10%%\n",
    )
    assert declared(tmp_path) == {"torch": (">=2",), "trl": ("==0.12",), "peft": (">=0.10%%",)}


@pytest.mark.parametrize("text", ["not an ini file", "[options]\n[options]\n", "[options.extras_require]\nx = %(y)s\n"])
def test_a_setup_cfg_that_makes_no_sense_declares_nothing_and_raises_nothing(tmp_path: Path, text: str) -> None:
    write(tmp_path / "setup.cfg", text)
    assert "torch" not in declared(tmp_path)


def test_setup_py_is_not_executed(tmp_path: Path) -> None:
    write(tmp_path / "setup.py", f"open({str(tmp_path / 'ran')!r}, 'w')\nsetup(install_requires=['torch>=2'])\n")
    assert version(write(tmp_path / "x.py", ""), "torch") is None
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("transformers=4.40", "==4.40.*"),
        ("transformers=4.40.1=py310_0", "==4.40.1.*"),
        ("transformers==4.40.1", "==4.40.1"),
        ("transformers>=4.40,<5", ">=4.40,<5"),
        ("'transformers >=4.40'", ">=4.40"),
        ("conda-forge::transformers=4.*", "==4.*"),
        ("transformers 4.40.1", "==4.40.1"),
        ("transformers 4.40.1 py310_0", ""),
        ("transformers=4.40|5.*", ""),
        ("transformers", None),
        ("transformers=*", None),
    ],
)
def test_an_item_of_an_environment_file(tmp_path: Path, item: str, expected: str | None) -> None:
    write(
        tmp_path / "environment.yml",
        f"name: x\nchannels:\n  - trl=9\ndependencies:\n- python=3.11\n- {item} # why\n- pytorch=2.3\n- pip:\n"
        "    # ours\n    - peft==0.10\n    - -r requirements.txt\n- numpy<2\nvariables:\n  - accelerate=1\n",
    )
    found = declared(tmp_path)
    assert found.pop("transformers", None) == (None if expected is None else (expected,))
    assert found == {"python": ("==3.11.*",), "torch": ("==2.3.*",), "peft": ("==0.10",), "numpy": ("<2",)}


UV_LOCK = """version = 1
requires-python = ">=3.10"

[[package]]
name = "my-project"
source = { virtual = "." }
dependencies = [
    { name = "transformers" },
]

[package.metadata]
requires-dist = [{ name = "transformers", specifier = ">=4.40" }]

[[package]]
name = "transformers"
version = "4.57.1"
source = { registry = "https://example.org/simple" }
wheels = [
    { url = "https://example.org/transformers-9-py3-none-any.whl", hash = "sha256:0" },
]
"""

POETRY_LOCK = """# This file is @generated

[[package]]
name = "Transformers"
version = "4.57.1"
description = "..."
files = [
    {file = "transformers-9.whl", hash = "sha256:0"},
]

[package.dependencies]
version = "8"

[metadata]
lock-version = "2.0"
"""


@pytest.mark.parametrize(("name", "text"), [("uv.lock", UV_LOCK), ("poetry.lock", POETRY_LOCK)])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_lock_goes_before_the_declaration(tmp_path: Path, name: str, text: str, newline: str) -> None:
    write(tmp_path / "pyproject.toml", '[project]\ndependencies = ["transformers>=4.40", "torch>=2"]\n')
    write(tmp_path / name, text.replace("\n", newline))
    file = write(tmp_path / "src/x.py", "")
    assert version(file) == Requirement(("==4.57.1",), name)
    assert version(file, "torch") == Requirement((">=2",), "pyproject.toml")
    assert version(file, "my-project") is None


def test_two_versions_in_one_lock_are_alternatives(tmp_path: Path) -> None:
    package = '[[package]]\nname = "torch"\nversion = "{}"\n'
    write(tmp_path / "uv.lock", package.format("2.3.0") + package.format("2.3.0+cu121"))
    assert declared(tmp_path) == {"torch": ("==2.3.0", "==2.3.0+cu121")}


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml", "setup.cfg", "environment.yml", "uv.lock"])
@pytest.mark.parametrize(
    "data", [b"", b"\x00\xff\xfe" * 50, b"=" * 5_000, b"[" * 5_000, b"- " * 5_000, b"\\\n" * 500, b"-r a\x00b\n"]
)
def test_garbage_declares_nothing_and_raises_nothing(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    assert "torch" not in declared(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    for name in ("requirements.txt", "uv.lock", "pyproject.toml", "llm-lint.toml", ".gitignore", "base.toml"):
        os.mkfifo(tmp_path / name)
    file = write(tmp_path / "x.py", "")
    assert [found.path for found in Project([tmp_path]).files()] == [file]
    assert version(file) is None
    with pytest.raises(SettingsError, match=r"base\.toml: is not a file"):
        load(tmp_path / "base.toml")


def test_a_folder_named_like_a_declaration_is_passed_over(tmp_path: Path) -> None:
    for name in ("requirements.txt", "uv.lock", "pyproject.toml", "setup.cfg", "environment.yml"):
        (tmp_path / name).mkdir()
    assert declared(tmp_path) == {}


# ---------------------------------------------------------------- the order of the search


def project_with_everything(folder: Path) -> Path:
    write(folder / "llm-lint.toml", "[target-versions]\nTransformers = '==1'\n")
    write(folder / "requirements.txt", "transformers==2\n")
    (folder / ".venv/lib/python3.11/site-packages/transformers-3.dist-info").mkdir(parents=True)
    return write(folder / "x.ipynb", "")


def test_settings_then_declarations_then_the_environment_then_the_notebook(tmp_path: Path) -> None:
    write(tmp_path / "setup.py", "")
    file = project_with_everything(tmp_path)

    def answer() -> Requirement | None:
        project = Project()
        return project.world_for(project.file(file), ["transformers==4", "torch"]).version("transformers")

    assert answer() == Requirement(("==1",), "target-versions")
    (tmp_path / "llm-lint.toml").unlink()
    assert answer() == Requirement(("==2",), "requirements.txt")
    write(tmp_path / "requirements.txt", "transformers\n")
    assert answer() == Requirement(("==3",), "the environment (.venv)")
    (tmp_path / ".venv/lib/python3.11/site-packages/transformers-3.dist-info").rmdir()
    assert answer() == Requirement(("==4",), "`pip install` in the notebook")


def test_isolation_ignores_settings_not_what_the_project_declares(tmp_path: Path) -> None:
    file = project_with_everything(tmp_path)
    assert version(file) == Requirement(("==1",), "target-versions")
    assert version(file, isolated=True) == Requirement(("==2",), "requirements.txt")


def test_the_nearest_folder_that_says_anything_of_the_library_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    write(tmp_path / "requirements.txt", "transformers==4.40\ntorch==2\n")
    write(tmp_path / "examples/seq/requirements.txt", "transformers>=5\n")
    file = write(tmp_path / "examples/seq/deep/x.py", "")
    assert version(file) == Requirement((">=5",), "requirements.txt")
    assert version(file, "torch") == Requirement(("==2",), "requirements.txt")


def test_nothing_above_the_repository_counts(tmp_path: Path) -> None:
    write(tmp_path / "requirements.txt", "transformers==4.40\n")
    (tmp_path / "repo/.git").mkdir(parents=True)
    assert version(write(tmp_path / "repo/x.py", "")) is None


# ---------------------------------------------------------------- the names in the code


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from transformers import AutoModelForVision2Seq\n", "<5.0.0"),
        ("from transformers import AutoModelForVision2Seq, ArceeForCausalLM\n", "<5.0.0,>4.46.3"),
        ("from transformers import AutoModelForVision2Seq, AXK1Model\n", None),  # no release has both
        ("from transformers import AlbertTokenizerFast, BertTokenizerFast, NerPipeline\n", None),  # made on demand
        ("from transformers.models.auto import AutoModelForVision2Seq\n", "<5.0.0"),
        ("from transformers import AutoModel\n", None),
        ("from transformers import NeverHeardOf\n", None),
        ("import transformers\n", None),
        ("from .transformers import AutoModelForVision2Seq\n", None),
        # The program works without it.
        ("try:\n    from transformers import AutoModelForVision2Seq\nexcept ImportError: ...\n", None),
        ("def f():\n    from transformers import AutoModelForVision2Seq\n", None),
    ],
)
def test_names_that_only_some_releases_have_say_which(text: str, expected: str | None) -> None:
    found = requirement_by_names(Source.from_text("a.py", text), "transformers")
    assert (None if found is None else ",".join(sorted(found.specifier.split(",")))) == expected


@pytest.mark.parametrize(
    ("text", "specifier", "expected"),
    [
        ("from transformers import AutoModelForVision2Seq\n", ">=5", NO),
        ("from transformers import AutoModelForVision2Seq\n", "<5", YES),
        ("from transformers import AutoModelForVision2Seq\n", "<4.50", UNKNOWN),
        ("from transformers import AutoModel\n", ">=5", UNKNOWN),
    ],
)
def test_what_names_exclude_is_excluded_and_what_they_leave_open_stays_open(
    text: str, specifier: str, expected: Truth
) -> None:
    world = ExampleWorld({}, {}, {})
    facts = Facts(Source.from_text("a.py", text), world)
    assert facts.requires("transformers", specifier) is expected
    declared = Facts(Source.from_text("a.py", text), ExampleWorld({}, {"transformers": ">=4"}, {}))
    assert declared.requires("transformers", specifier) is NO


def test_the_settings_command_shows_what_names_and_installations_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = write(tmp_path / "a.py", "from transformers import AutoModelForVision2Seq\n")
    assert main(["config", str(source)]) == 0
    assert "transformers <5.0.0  # `AutoModelForVision2Seq` in the code" in capsys.readouterr().out
    cell: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": "!pip install torch==2.3",
    }
    notebook: dict[str, object] = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    assert main(["config", str(write(tmp_path / "n.ipynb", json.dumps(notebook)))]) == 0
    assert "torch ==2.3  # `pip install` in the notebook" in capsys.readouterr().out
