"""Which files a project has, what holds for each, and what one may ask of the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from llm_lsp import files
from llm_lsp.project import Project
from llm_lsp.settings import SettingsError

ROOT = Path(__file__).resolve().parents[1]
NO_SYMLINKS = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a privilege there")


@pytest.fixture(autouse=True)
def _working_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "no-cache"))


def write(*paths: str, text: str = "") -> None:
    for name in paths:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")


def found(*paths: str, **overrides: bool) -> list[str]:
    return [file.shown_path for file in Project(paths, overrides=overrides).files()]


# ---------------------------------------------------------------- files


def test_python_files_and_notebooks_are_found_in_a_stable_order() -> None:
    write("b.py", "a/z.py", "a/b/c.ipynb", "a.py", "README.md", "stubs.pyi", "a/Makefile", "x.PY", "c.py.txt")
    assert found() == ["a/b/c.ipynb", "a/z.py", "a.py", "b.py"]
    assert found("b.py", "a") == ["b.py", "a/b/c.ipynb", "a/z.py"]


def test_a_file_is_found_once_however_often_it_is_given() -> None:
    write("a/x.py", "a/y.py")
    assert found("a/y.py", "a", "./a/../a/x.py", str(Path("a").absolute())) == ["a/y.py", "a/x.py"]


@pytest.mark.parametrize("name", ["script", "script.pyi", "notes.txt"])
def test_a_file_that_is_given_is_linted_whatever_its_name(name: str) -> None:
    write(name)
    assert found(name) == [name]
    assert found(".") == []


def test_a_folder_named_like_a_file_is_a_folder() -> None:
    write("x.py/y.py", "n.ipynb/z.py")
    assert found() == ["n.ipynb/z.py", "x.py/y.py"]
    assert found("x.py") == ["x.py/y.py"]


def test_a_path_outside_the_working_directory_is_shown_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("a/x.py", "ab/y.py")
    monkeypatch.chdir("a")
    assert found("..") == ["x.py", (tmp_path / "ab/y.py").as_posix()]


def test_a_path_that_is_not_there_is_a_problem_and_stops_nothing() -> None:
    write("x.py")
    project = Project(["gone.py", "x.py", "also/gone"])
    assert [file.shown_path for file in project.files()] == ["x.py"]
    assert [problem.message for problem in project.problems] == [
        "`gone.py` does not exist",
        "`also/gone` does not exist",
    ]


@pytest.mark.parametrize("name", ["x" * 5_000, "a\0b", "x.py/y.py"])
def test_an_impossible_path_is_a_problem_and_stops_nothing(name: str) -> None:
    write("x.py")
    project = Project([name, "x.py"])
    assert [file.shown_path for file in project.files()] == ["x.py"]
    assert len(project.problems) == 1


def test_a_folder_that_cannot_be_read_is_a_problem_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    write("a/x.py", "locked/y.py", "z.py")
    scandir = os.scandir

    # Permissions don't stop root, who runs the tests in many containers.
    def refusing(path: Path) -> Iterable[os.DirEntry[str]]:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("llm_lsp.files.os.scandir", refusing)
    project = Project()
    assert [file.shown_path for file in project.files()] == ["a/x.py", "z.py"]
    assert [problem.message for problem in project.problems] == ["`locked` can't be read: Permission denied"]


@NO_SYMLINKS
def test_links_lead_to_files_but_never_in_circles(tmp_path: Path) -> None:
    write("a/x.py", "elsewhere/y.py")
    (tmp_path / "a/loop").symlink_to(tmp_path / "a")
    (tmp_path / "a/up").symlink_to(tmp_path)
    (tmp_path / "a/self.py").symlink_to(tmp_path / "a/self.py")
    (tmp_path / "a/dangling.py").symlink_to(tmp_path / "gone.py")
    (tmp_path / "a/y.py").symlink_to(tmp_path / "elsewhere/y.py")
    project = Project(["a", "a/self.py"])
    assert [file.shown_path for file in project.files()] == ["a/x.py", "a/y.py"]
    assert [problem.message for problem in project.problems] == ["`a/self.py` is neither a file nor a folder"]
    assert found("a/loop") == ["a/loop/x.py", "a/loop/y.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("pipe.py")
    project = Project(["pipe.py", "."])
    assert list(project.files()) == []
    assert [problem.message for problem in project.problems] == ["`pipe.py` is neither a file nor a folder"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names are text")
def test_a_name_that_is_no_text_can_be_shown(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py")).touch()
    (name,) = found()
    assert name.encode("utf-8").decode("utf-8") == "caf�.py"


# ---------------------------------------------------------------- excluded


@pytest.mark.parametrize("name", [".venv", "venv", "node_modules", "build", "dist", ".git", "site-packages", ".tox"])
def test_what_is_nobodys_own_code_is_passed_over(name: str) -> None:
    write(f"{name}/x.py", f"a/{name}/b/x.py", f"a/not{name}/x.py")
    assert found() == [f"a/not{name}/x.py"]


def test_what_is_named_is_linted_even_if_excluded() -> None:
    write("build/x.py", "build/a/y.py", "build/a/build/z.py")
    assert found("build/x.py") == ["build/x.py"]
    assert found("build") == ["build/a/y.py", "build/x.py"]
    assert found("build/a") == ["build/a/y.py"]


def test_force_exclude_counts_for_what_is_named_too() -> None:
    write("build/x.py", "build/a/y.py", "z.py")
    assert found("build/x.py", "build/a", "build", "z.py", force_exclude=True) == ["z.py"]
    write("llm-lint.toml", text="force-exclude = true\n")
    assert found("build/x.py", "z.py") == ["z.py"]


def test_a_folder_above_the_project_excludes_nothing() -> None:
    write("build/project/x.py", "build/project/pyproject.toml")
    assert found("build/project/x.py", force_exclude=True) == ["build/project/x.py"]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("exclude = ['old']", ["build/x.py", "keep/old_x.py", "x_pb2.py"]),
        ("extend-exclude = ['old']", ["keep/old_x.py", "x_pb2.py"]),
        ("extend-exclude = ['*_pb2.py', '/old/']", ["keep/old/x.py", "keep/old_x.py"]),
        ("extend-exclude = ['keep/**/x.py']", ["keep/old_x.py", "old/x.py", "x_pb2.py"]),
        ("extend-exclude = ['keep/*', '!keep/old_x.py']", ["keep/old_x.py", "old/x.py", "x_pb2.py"]),
        ("extend-exclude = ['old', '!build']", ["build/x.py", "keep/old_x.py", "x_pb2.py"]),
    ],
)
def test_exclude_replaces_and_extend_exclude_adds(settings: str, expected: list[str]) -> None:
    write("build/x.py", "old/x.py", "keep/old/x.py", "keep/old_x.py", "x_pb2.py")
    write("llm-lint.toml", text=settings)
    assert found() == expected


def test_a_named_folder_is_walked_though_a_pattern_excludes_it_but_its_own_excludes_count() -> None:
    write("old/x.py", "old/a/x_pb2.py", "old/a/y.py")
    write("llm-lint.toml", text="extend-exclude = ['old/', '*_pb2.py']\n")
    assert found("old") == ["old/a/y.py", "old/x.py"]
    assert found("old/a") == ["old/a/y.py"]
    assert found("old", "old/a/y.py", force_exclude=True) == []


def test_patterns_count_from_the_settings_that_hold_there() -> None:
    write("a/gen/x.py", "a/b/gen/x.py", "gen/x.py")
    write("a/llm-lint.toml", text="extend-exclude = ['/gen']\n")
    assert found() == ["a/b/gen/x.py", "gen/x.py"]


# ---------------------------------------------------------------- .gitignore


def git_tree(**ignored: str) -> None:
    write(".git/HEAD")
    for folder, text in ignored.items():
        write(f"{folder.replace('_', '/')}/.gitignore" if folder != "top" else ".gitignore", text=text)


def test_gitignore_rules_of_every_folder_count_and_the_inner_ones_win() -> None:
    git_tree(top="*.gen.py\nout/\n/data\n", a="!keep.gen.py\nlocal.py\n")
    write("x.gen.py", "a/x.gen.py", "a/keep.gen.py", "a/local.py", "local.py", "out/x.py", "a/out/x.py", "a/data/x.py")
    write("data/x.py")
    assert found() == ["a/data/x.py", "a/keep.gen.py", "local.py"]
    assert found("a") == ["a/data/x.py", "a/keep.gen.py"]


def test_nothing_inside_an_ignored_folder_comes_back() -> None:
    git_tree(top="out/\n!out/keep.py\n", out="!*.py\n")
    write("out/keep.py", "x.py")
    assert found() == ["x.py"]


@pytest.mark.parametrize("given", ["a/b", "a/b/x.py"])
def test_gitignore_of_the_repository_counts_below(given: str) -> None:
    git_tree(top="secret.py\n")
    write("a/b/x.py", "a/b/secret.py", "a/pyproject.toml")
    assert found(given) == ["a/b/x.py"]


def test_gitignore_above_the_repository_does_not_count() -> None:
    write(".gitignore", text="*.py\n")
    write("repo/.git/HEAD", "repo/x.py")
    assert found("repo") == ["repo/x.py"]


def test_an_ignored_file_that_is_named_is_linted_unless_forced() -> None:
    git_tree(top="out/\nx.py\n")
    write("out/y.py", "x.py")
    assert found("x.py", "out/y.py", "out") == ["x.py", "out/y.py"]
    assert found("x.py", "out/y.py", "out", force_exclude=True) == []


def test_gitignore_can_be_switched_off() -> None:
    git_tree(top="x.py\n")
    write("x.py")
    write("llm-lint.toml", text="respect-gitignore = false\n")
    assert found() == ["x.py"]


@pytest.mark.parametrize(
    "data", [b"\xff\xfe\x00", b"[\n!\n\\\n/\n", b"# only a comment\r\n\r\n", b"\xef\xbb\xbfsecret.py\r\n"]
)
def test_odd_gitignore_files_do_no_harm(data: bytes) -> None:
    write(".git/HEAD", "x.py", "secret.py")
    Path(".gitignore").write_bytes(data)
    assert found() == (["x.py"] if b"secret" in data else ["secret.py", "x.py"])


@pytest.mark.skipif(not Path("/usr/bin/git").exists(), reason="compares with git itself")
def test_git_agrees(tmp_path: Path) -> None:
    write(
        ".gitignore",
        text="*.gen.py\n!a/b/keep.gen.py\n/top.py\ndocs/*.py\n**/deep/*.py\nfolder/\n!folder/x.py\nq?.py\n[m-o].py\n",
    )
    write("a/.gitignore", text="/inner.py\n!*.gen.py\nb/gone.py\n")
    names = ["x.gen.py", "a/x.gen.py", "a/b/keep.gen.py", "top.py", "a/top.py", "docs/x.py", "docs/a/x.py", "deep/x.py"]
    names += ["a/deep/x.py", "a/deep/b/x.py", "folder/x.py", "a/folder/x.py", "q1.py", "q12.py", "m.py", "p.py"]
    names += ["a/inner.py", "a/b/inner.py", "a/b/gone.py", "a/b/b/gone.py"]
    write(*names)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    command = ["git", "ls-files", "--others", "--exclude-standard", "*.py"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert sorted(found()) == sorted(listed)
    assert 5 < len(listed) < len(names)


# ---------------------------------------------------------------- settings


def test_every_file_has_the_settings_nearest_to_it() -> None:
    write("pyproject.toml", text="[tool.llm-lint]\nignore = ['LLM301']\n")
    write("a/llm-lint.toml", text="ignore = ['LLM101']\n")
    write("b/pyproject.toml", text="[project]\nname = 'b'\n")
    write("x.py", "a/x.py", "a/b/x.py", "b/x.py")
    ignored = {file.shown_path: file.settings.ignore for file in Project().files()}
    assert ignored == {"a/b/x.py": ("LLM101",), "a/x.py": ("LLM101",), "b/x.py": ("LLM301",), "x.py": ("LLM301",)}


def test_one_settings_file_for_all_counts_from_the_working_directory(tmp_path: Path) -> None:
    write("ci/strict.toml", text="ignore = ['LLM101']\nextend-exclude = ['/gen']\n")
    write("llm-lint.toml", text="not even read")
    write("gen/x.py", "a/gen/x.py")
    project = Project(config=Path("ci/strict.toml"))
    assert [(file.shown_path, file.settings.ignore) for file in project.files()] == [("a/gen/x.py", ("LLM101",))]


def test_isolation_reads_no_settings() -> None:
    write("llm-lint.toml", text="not even read")
    write("x.py")
    assert [file.settings.files for file in Project(isolated=True).files()] == [()]


def test_broken_settings_stop_everything_that_they_hold_for() -> None:
    write("a/x.py", "b/x.py")
    write("b/llm-lint.toml", text="\nselct = []\n")
    assert found("a") == ["a/x.py"]
    with pytest.raises(SettingsError, match=r"^b/llm-lint\.toml:2: unknown key `selct`"):
        found()


def test_a_python_that_is_not_there_is_told_before_anything_is_linted() -> None:
    write("x.py")
    write("llm-lint.toml", text="\npython = 'gone'\n")
    with pytest.raises(SettingsError, match=r"^llm-lint\.toml:2: python: .*gone` does not exist"):
        found()


# ---------------------------------------------------------------- modules


def module(name: str, importer: str) -> str | None:
    path = Project().module_file(name, Path(importer).absolute())
    return None if path is None else files.shown(path)


def test_modules_are_found_as_python_finds_them() -> None:
    write("pyproject.toml", "main.py", "pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py")
    write("space/c.py", "src/lib/__init__.py", "src/lib/d.py", "scripts/run.py", "scripts/near.py")
    assert module("pkg", "main.py") == "pkg/__init__.py"
    assert module("pkg.a", "main.py") == "pkg/a.py"
    assert module("pkg.sub.b", "pkg/a.py") == "pkg/sub/b.py"
    assert module("space.c", "main.py") == "space/c.py"
    assert module("space", "main.py") is None
    assert module("lib.d", "main.py") == module("lib.d", "src/lib/__init__.py") == "src/lib/d.py"
    assert module("near", "scripts/run.py") == "scripts/near.py"
    assert module("near", "main.py") is None
    assert module("main", "scripts/run.py") == "main.py"


def test_relative_names_count_from_the_importers_package() -> None:
    write("pyproject.toml", "pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py")
    assert module(".a", "pkg/__init__.py") == "pkg/a.py"
    assert module(".", "pkg/a.py") == "pkg/__init__.py"
    assert module("..", "pkg/sub/b.py") == "pkg/__init__.py"
    assert module("..a", "pkg/sub/b.py") == "pkg/a.py"
    assert module(".b", "pkg/sub/__init__.py") == "pkg/sub/b.py"
    assert module(".a", "pkg/sub/b.py") is None


def test_a_package_goes_before_a_module_of_its_name() -> None:
    write("pyproject.toml", "x.py", "both.py", "both/__init__.py", "half.py", "half/data.py")
    assert module("both", "x.py") == "both/__init__.py"
    assert module("half", "x.py") == "half.py"


@pytest.mark.parametrize(
    "name",
    ["", ".", "...", "." * 5_000, "os", "a b", "../outside", "/etc/passwd", "pkg..a", "x\0y", "pkg.a.py", "folder"],
)
def test_names_that_are_no_module_of_the_project_are_not_found(name: str) -> None:
    write("repo/pyproject.toml", "repo/main.py", "repo/pkg/__init__.py", "outside.py", "outside/__init__.py")
    write("repo/folder.py/x.py")
    assert module(name, "repo/main.py") is None


def test_nothing_outside_the_project_is_found(tmp_path: Path) -> None:
    write("repo/pyproject.toml", "repo/__init__.py", "repo/pkg/__init__.py", "repo/pkg/a.py", "other.py")
    assert module("other", "repo/pkg/a.py") is None
    assert module("...other", "repo/pkg/a.py") is None
    assert module("repo.pkg.a", "repo/pkg/a.py") == "repo/pkg/a.py"


@NO_SYMLINKS
def test_a_link_does_not_lead_out_of_the_project(tmp_path: Path) -> None:
    write("repo/pyproject.toml", "repo/main.py", "secret/key.py", "repo/real/__init__.py")
    (tmp_path / "repo/secret").symlink_to(tmp_path / "secret")
    (tmp_path / "repo/alias").symlink_to(tmp_path / "repo/real")
    assert module("secret.key", "repo/main.py") is None
    assert module("alias", "repo/main.py") == "repo/alias/__init__.py"


def test_names_differ_by_case_on_every_system() -> None:
    write("pyproject.toml", "x.py", "Model.py", "Pkg/__init__.py")
    assert module("model", "x.py") is module("pkg", "x.py") is None
    assert module("Model", "x.py") == "Model.py"


def test_a_module_does_not_depend_on_what_was_given() -> None:
    write("pyproject.toml", "pkg/__init__.py", "pkg/a.py")
    write("pkg/b.py", text="rate = 1\n")
    for given in (["pkg/a.py"], ["."], ["pkg/a.py", "pkg/b.py"]):
        project = Project(given)
        source = project.world_for(project.file("pkg/a.py")).module(".b", "pkg/a.py")
        assert source is not None
        assert (source.path, source.text) == ("pkg/b.py", "rate = 1\n")


def test_a_module_that_cannot_be_analysed_is_not_known() -> None:
    write("pyproject.toml", "x.py")
    write("big.py", text="x = 1\n" * 300_000)
    write("fine.py", text="x = (\n")
    project = Project()
    world = project.world_for(project.file("x.py"))
    assert world.module("big", "x.py") is None
    assert world.module("gone", "x.py") is None
    assert world.module("fine", "x.py") is not None


def test_a_source_is_parsed_once_for_all_who_ask() -> None:
    write("pyproject.toml", "x.py", "y.py")
    project = Project()
    file = project.file("y.py")
    assert project.world_for(project.file("x.py")).module("y", "x.py") is project.source(file)


def test_sources_are_not_kept_without_end() -> None:
    write("pyproject.toml")
    write(*(f"m{number}.py" for number in range(6)), text="x = 1\n" * 50_000)
    project = Project()
    first, *others, last = [(file, project.source(file)) for file in project.files()]
    assert project.source(last[0]) is last[1]
    assert project.source(others[-1][0]) is others[-1][1]
    assert project.source(first[0]) is not first[1]


# ---------------------------------------------------------------- checkpoints


def layers_of(name: str, file: str) -> str | None:
    """The model type that a folder's config.json says; the folders here say their own path."""
    project = Project()
    checkpoint = project.world_for(project.file(file)).checkpoint(name)
    return None if checkpoint is None or checkpoint.model_type is None else checkpoint.model_type.value


def write_checkpoint(folder: str) -> None:
    write(f"{folder}/config.json", text=f'{{"model_type": "{folder}"}}')


def test_a_folder_is_looked_for_beside_the_file_in_the_project_and_where_one_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write("repo/pyproject.toml", "repo/scripts/run.py", "work/x")
    for folder in ("repo/scripts/near", "repo/out", "work/here"):
        write_checkpoint(folder)
    monkeypatch.chdir("work")
    for name, expected in (("near", "repo/scripts/near"), ("./out/", "repo/out"), ("here", "work/here"), ("no", None)):
        assert layers_of(name, "../repo/scripts/run.py") == expected


def test_a_folder_that_depends_on_where_the_program_starts_is_not_known() -> None:
    write("pyproject.toml", "scripts/run.py")
    write_checkpoint("model")
    assert layers_of("model", "scripts/run.py") == "model"
    write_checkpoint("scripts/model")
    assert layers_of("model", "scripts/run.py") is None


def test_a_folder_goes_before_a_known_id_even_if_it_says_nothing() -> None:
    write("pyproject.toml", "x.py")
    assert layers_of("gpt2", "x.py") == "gpt2"
    write("gpt2/README.md")
    assert layers_of("gpt2", "x.py") is None


def test_the_cache_of_the_hub_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", "x.py")
    write("home/hub/models--me--mine/refs/main", text="abc123")
    write("home/hub/models--me--mine/snapshots/abc123/config.json", text='{"model_type": "cached"}')
    assert layers_of("me/mine", "x.py") is None
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    assert layers_of("me/mine", "x.py") == "cached"


@pytest.mark.parametrize(
    "name", ["", " ", "a\0b", "//host/share/model", "\\\\host\\share\\model", "x" * 100_000, "../" * 900]
)
def test_names_that_lead_nowhere_are_not_known(name: str) -> None:
    write("pyproject.toml", "x.py")
    assert layers_of(name, "x.py") is None


# ---------------------------------------------------------------- one file in a large project


def test_one_file_of_many_is_checked_without_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", *(f"pkg{number}/m.py" for number in range(30)), "pkg7/x.py")

    def walked(path: Path) -> None:
        pytest.fail(f"{path} was walked")

    monkeypatch.setattr("llm_lsp.files.os.scandir", walked)
    listed: list[str] = []
    listdir = os.listdir

    def noting(path: Path) -> list[str]:
        listed.append(Path(path).name)
        return listdir(path)

    monkeypatch.setattr("llm_lsp.project.os.listdir", noting)
    project = Project(["pkg7/x.py"])
    (file,) = project.files()
    world = project.world_for(file)
    world.version("transformers")
    world.module("m", "pkg7/x.py")
    assert not {name for name in listed if name.startswith("pkg")} - {"pkg7"}


def test_a_file_that_is_not_there_has_settings_and_a_world() -> None:
    write("llm-lint.toml", text="[target-versions]\ntorch = '==2'\n")
    project = Project()
    file = project.file("a/new.py")
    assert file.shown_path == "a/new.py"
    assert project.world_for(file).version("torch") is not None
    assert not project.is_skipped("a/new.py")
    assert Project(overrides={"force_exclude": True}).is_skipped("build/new.py")


def test_pathspec_is_loaded_only_for_patterns_that_are_more_than_names(tmp_path: Path) -> None:
    script = (
        "import sys; from llm_lsp.project import Project; files = list(Project(['.']).files());"
        "print(len(files), 'pathspec' in sys.modules)"
    )

    def run() -> str:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", script]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout.strip()

    write("x.py", "build/y.py")
    write("llm-lint.toml", text="extend-exclude = ['old']\n")
    assert run() == "1 False"
    write(".gitignore", text="*.gen.py\n")
    assert run() == "1 True"


@pytest.mark.parametrize(
    "text",
    [
        "from engine import score\n",
        "import engine\n",
        "from pkg.engine import (\n    load,\n    score,\n)\n",
        "from . import engine\n",
        "def main():\n    from .engine import score\n",
        '{"cells": [{"cell_type": "code", "source": ["from engine import score\\n"]}]}',
    ],
)
def test_who_imports_a_module_is_found_by_its_text(text: str) -> None:
    name = "main.ipynb" if text.startswith("{") else "main.py"
    write("engine.py", "stranger.py", text="print('engine')\n")
    write(name, text=text)
    project = Project(["engine.py"])
    assert [path.name for path in project.importers_of(Path("engine.py").absolute())] == [name]


def test_the_first_modules_are_searched_for_and_later_ones_looked_up_with_the_same_answers() -> None:
    names = [f"part_{number:02}" for number in range(12)]
    for number, name in enumerate(names):
        imports = "".join(f"from {other} import x\n" for other in names[:number] if other[-1] in "13579")
        write(f"{name}.py", text=f"{imports}# {' '.join(names)}\nx = 1\n")
    together, paths = Project(["part_00.py"]), [Path(f"{name}.py").absolute() for name in names]
    answers = [together.importers_of(path) for path in (*paths, *paths)]
    alone = [Project(["part_00.py"]).importers_of(path) for path in paths]
    assert answers == [*alone, *alone]
    assert [len(found) for found in alone] == [0, 10, 0, 8, 0, 6, 0, 4, 0, 2, 0, 0]


def test_scripts_are_not_looked_for_in_a_project_of_too_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    write("engine.py", text="def score():\n    pass\n")
    write("main.py", text="from engine import score\nif __name__ == '__main__':\n    score()\n")
    path = Path("engine.py").absolute()
    assert Project(["engine.py"]).scripts_for(path) == [Path("main.py").absolute()]
    monkeypatch.setattr("llm_lsp.project._MOST_FILES", 1)
    assert Project(["engine.py"]).scripts_for(path) is None
    assert Project(["engine.py"]).importers_of(path) == [Path("main.py").absolute()]


def test_only_importers_that_name_what_is_asked_for_are_given() -> None:
    write("engine.py", text="def score():\n    pass\n")
    write("main.py", text="import engine\nengine.score()\n")
    write("other.py", text="import engine\nengine.load()\n")
    project = Project(["engine.py"])
    world = project.world_for(project.file(Path("engine.py").absolute()))
    assert [source.path for source in world.importers("engine.py", {"score", "train"})] == ["main.py"]
    assert world.importers("engine.py", ()) == []


def test_nobody_imports_a_notebook() -> None:
    write("engine.ipynb")
    write("main.py", text="import engine\n")
    assert Project(["engine.ipynb"]).importers_of(Path("engine.ipynb").absolute()) == []


def test_neither_pictures_nor_what_is_too_large_is_looked_through_for_imports() -> None:
    picture = '"image/png": "' + "import engine " * 10_000 + '"'
    write("engine.py", text="print('engine')\n")
    write("pictures.ipynb", text='{"outputs": [\n' + picture + '],\n"source": [\n"import torch\\n"]}\n')
    write("shown.ipynb", text='{"outputs": [\n' + picture + '],\n"source": [\n"import engine\\n"]}\n')
    write("large.py", text="import engine\n" + "x = 1  # a line of a table\n" * 50_000)
    project = Project(["engine.py"])
    assert [path.name for path in project.importers_of(Path("engine.py").absolute())] == ["shown.ipynb"]
