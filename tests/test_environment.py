"""The user's environment is found and looked at, and nothing in it is ever run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from llm_lsp.environment import Environment, EnvironmentNotFoundError, at, find
from llm_lsp.project import Project
from llm_lsp.settings import Settings


def site_packages(prefix: Path, *installed: str, version: str = "3.11") -> Path:
    folder = prefix / f"lib/python{version}/site-packages"
    folder.mkdir(parents=True)
    for name in installed:
        (folder / f"{name}.dist-info").mkdir()
    return folder


def interpreter(prefix: Path, name: str = "python") -> Path:
    path = prefix / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("", encoding="utf-8")
    return path


def versions(environment: Environment | None) -> Mapping[str, str]:
    assert environment is not None
    return {name: requirement.specifier for name, requirement in environment.installed().items()}


# ---------------------------------------------------------------- found


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_environment_goes_before_the_projects(tmp_path: Path, variable: str) -> None:
    site_packages(tmp_path / "active", "torch-2.1")
    site_packages(tmp_path / "p/.venv", "torch-2.2")
    assert versions(find([tmp_path / "p"], {variable: str(tmp_path / "active")})) == {"torch": "==2.1"}


@pytest.mark.parametrize("name", [".venv", "venv"])
def test_the_projects_environment(tmp_path: Path, name: str) -> None:
    site_packages(tmp_path / name, "torch-2.2")
    found = find([tmp_path], {"VIRTUAL_ENV": str(tmp_path / "gone"), "CONDA_PREFIX": ""})
    assert versions(found) == {"torch": "==2.2"}
    assert found is not None
    assert found.origin == name


def test_no_environment(tmp_path: Path) -> None:
    (tmp_path / ".venv").write_text("not a folder", encoding="utf-8")
    assert find([tmp_path], {}) is None


@pytest.mark.parametrize("named", ["", "bin/python", "lib/python3.11/site-packages"])
def test_an_environment_may_be_named_in_three_ways(tmp_path: Path, named: str) -> None:
    site_packages(tmp_path, "torch-2.2")
    interpreter(tmp_path)
    assert versions(at(tmp_path / named, "--python", {})) == {"torch": "==2.2"}


def test_the_layout_of_windows(tmp_path: Path) -> None:
    (tmp_path / "Lib/site-packages/torch-2.2.dist-info").mkdir(parents=True)
    (tmp_path / "Scripts").mkdir()
    (tmp_path / "Scripts/python.exe").write_bytes(b"")
    (tmp_path / "python.exe").write_bytes(b"")
    for named in ("", "Scripts/python.exe", "python.exe"):
        assert versions(at(tmp_path / named, "--python", {})) == {"torch": "==2.2"}


def test_a_link_to_an_interpreter_is_the_environment_it_lies_in(tmp_path: Path) -> None:
    site_packages(tmp_path / "base", "torch-2.1")
    site_packages(tmp_path / "env", "torch-2.2")
    base = interpreter(tmp_path / "base")
    (tmp_path / "env/bin").mkdir()
    (tmp_path / "env/bin/python").symlink_to(base)
    (tmp_path / "python").symlink_to(base)
    assert versions(at(tmp_path / "env/bin/python", "--python", {})) == {"torch": "==2.2"}
    assert versions(at(tmp_path / "python", "--python", {})) == {"torch": "==2.1"}


def test_a_bare_name_is_looked_up_on_the_path(tmp_path: Path) -> None:
    site_packages(tmp_path, "torch-2.1", version="3.10")
    site_packages(tmp_path, "torch-2.2", version="3.12")
    interpreter(tmp_path, "python3.12")
    assert versions(at(Path("python3.12"), "--python", {"PATH": f"{tmp_path / 'bin'}"})) == {"torch": "==2.2"}


def test_the_version_in_pyvenv_cfg_tells_which_folder_counts(tmp_path: Path) -> None:
    site_packages(tmp_path, "torch-2.1", version="3.10")
    site_packages(tmp_path, "torch-2.2", version="3.12")
    (tmp_path / "pyvenv.cfg").write_text("home = /nowhere\nversion_info = 3.12.1.final.0\n", encoding="utf-8")
    assert versions(at(tmp_path, "--python", {})) == {"torch": "==2.2"}


def test_the_base_environment_counts_where_it_shows_through(tmp_path: Path) -> None:
    site_packages(tmp_path / "base", "torch-2.1")
    site_packages(tmp_path / "env", "peft-0.10")
    config = "home = {}\nversion = 3.11.4\ninclude-system-site-packages = {}\n"
    for shows, expected in (("true", {"torch", "peft"}), ("false", {"peft"})):
        text = config.format(tmp_path / "base/bin", shows)
        (tmp_path / "env/pyvenv.cfg").write_text(text, encoding="utf-8")
        assert set(versions(at(tmp_path / "env", "--python", {}))) == expected


@pytest.mark.parametrize("named", ["gone", "empty", "bin/python"])
def test_a_named_environment_that_is_none_is_told(tmp_path: Path, named: str) -> None:
    (tmp_path / "empty").mkdir()
    interpreter(tmp_path)
    with pytest.raises(EnvironmentNotFoundError, match=named):
        at(tmp_path / named, "--python", {})


# ---------------------------------------------------------------- installed


def test_names_of_dist_info_folders_are_read(tmp_path: Path) -> None:
    folder = site_packages(tmp_path, "flash_attn-2.5.8", "Torch-2.3.0+cu121", "~orch-2.2", "nodash", "a-1-b")
    (folder / "peft").mkdir()
    (folder / "trl-0.12.egg-info").mkdir()
    assert versions(at(tmp_path, "--python", {})) == {"flash-attn": "==2.5.8", "torch": "==2.3.0+cu121", "a": "==1-b"}


def test_two_versions_of_one_package_are_alternatives(tmp_path: Path) -> None:
    site_packages(tmp_path, "torch-2.1", "torch-2.2")
    found = at(tmp_path, "--python", {}).installed()["torch"]
    assert found.alternatives == ("==2.1", "==2.2")


# ---------------------------------------------------------------- in a project


def planted(folder: Path) -> Path:
    """A project whose `.venv/bin/python` leaves a file behind when it is run."""
    evidence = folder / "ran"
    site_packages(folder / ".venv", "torch-2.2")
    for name in ("python", "python3", "python3.11"):
        path = interpreter(folder / ".venv", name)
        path.write_text(f"#!/bin/sh\ntouch '{evidence}'\n", encoding="utf-8")
        path.chmod(0o755)
    (folder / ".venv/lib/python3.11/site-packages/evil.pth").write_text(
        f"import pathlib; pathlib.Path({str(evidence)!r}).touch()\n", encoding="utf-8"
    )
    (folder / "train.py").write_text("import torch\n", encoding="utf-8")
    return evidence


@pytest.mark.parametrize("named", [None, ".venv", ".venv/bin/python"])
def test_nothing_of_a_workspace_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str | None) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    evidence = planted(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / '.venv/bin'}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "setup.py").write_text("", encoding="utf-8")
    project = Project([tmp_path], python=None if named is None else tmp_path / named)
    (file,) = (file for file in project.files() if file.path.name == "train.py")
    found = project.world_for(file).version("torch")
    assert found is not None
    assert found.specifier == "==2.2"
    assert not evidence.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the planted interpreter is a shell script")
def test_the_planted_interpreter_would_leave_its_mark(tmp_path: Path) -> None:
    evidence = planted(tmp_path)
    subprocess.run([tmp_path / ".venv/bin/python"], check=True)
    assert evidence.exists()


def test_the_setting_counts_from_its_file_and_the_option_goes_before_it(tmp_path: Path) -> None:
    site_packages(tmp_path / "one", "torch-2.1")
    site_packages(tmp_path / "two", "torch-2.2")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/llm-lint.toml").write_text('python = "../one"\n', encoding="utf-8")
    for option, expected in ((None, "==2.1"), (tmp_path / "two", "==2.2")):
        project = Project(python=option)
        found = project.world_for(project.file(tmp_path / "p/x.py")).version("torch")
        assert found is not None
        assert found.specifier == expected


def test_an_environment_in_the_repository_serves_the_packages_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    site_packages(tmp_path / ".venv", "torch-2.2")
    (tmp_path / ".git").mkdir()
    (tmp_path / "packages/a").mkdir(parents=True)
    (tmp_path / "packages/a/pyproject.toml").write_text("", encoding="utf-8")
    project = Project()
    assert versions(project.environment_of(project.file(tmp_path / "packages/a/x.py"))) == {"torch": "==2.2"}


def test_the_default_is_no_named_environment() -> None:
    assert Settings().python is None
