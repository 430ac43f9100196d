"""Classes of installed packages: found by path in the user's environment, followed as the program's own, never run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llm_lsp import definitions
from llm_lsp.definitions import Definitions
from llm_lsp.environment import Environment
from llm_lsp.facts import Facts
from llm_lsp.facts.values import Object
from llm_lsp.packages import Packages
from llm_lsp.project import Project
from llm_lsp.remembering import Question
from llm_lsp.server.recording import RecordingWorld, still_holds

NO_LIMITS = pytest.mark.skipif(sys.platform != "linux", reason="a limit of memory that holds is Linux's")
MODEL = "from torch import nn\n\nclass TinyGPT(nn.Module):\n    pass\n"
TRACE = "from pathlib import Path\nPath(__file__).with_name('trace').touch()\n"


@pytest.fixture(autouse=True)
def _working_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "setup.cfg").touch()
    monkeypatch.chdir(tmp_path / "project")
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("LLM_LINT_CACHE_DIR", str(tmp_path / "cache"))
    # However busy the machine is.
    monkeypatch.setattr(definitions, "SECONDS", 60)


def site_packages() -> Path:
    return Path.cwd() / ".venv/lib/python3.11/site-packages"


def install(**files: str) -> Path:
    """Modules in the user's environment, `a__b` for `a/b.py`."""
    for name, text in files.items():
        path = site_packages() / f"{name.replace('__', '/').replace('/init/', '/__init__')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return site_packages()


def package(**files: str) -> Path:
    """The package `company`; `init` is its `__init__.py`."""
    folder = site_packages() / "company"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / ("__init__.py" if name == "init" else f"{name}.py")).write_text(text, encoding="utf-8")
    return folder


def kinds(text: str) -> list[str | None]:
    """What the facts know of what each call in a file of the project makes."""
    Path("main.py").write_text(text, encoding="utf-8")
    project = Project()
    file = project.file("main.py")
    facts = Facts(project.source(file), project.world_for(file))
    made = [call.record.result for call in facts.every_call() if call.place.path == "main.py"]
    found = [facts.machine.kind(value) if isinstance(value, Object) else None for value in made]
    facts.close()
    return found


# ---------------------------------------------------------------- what is followed


@pytest.mark.parametrize(
    "init",
    [
        "from .gpt import TinyGPT\n",
        "from company.gpt import TinyGPT\n",
        "from .gpt import *\n",
        "from .all import *\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .gpt import TinyGPT\nelse:\n    lazy()\n",
        "try:\n    from .gpt import TinyGPT\nexcept ImportError:\n    TinyGPT = None\n",
        "from . import gpt\nTinyGPT = gpt.TinyGPT\n",
    ],
)
def test_a_class_is_followed_through_what_its_package_exports(init: str) -> None:
    package(init=init, gpt=MODEL, all="from .gpt import *\n")
    assert kinds("from company import TinyGPT\nm = TinyGPT()\n") == ["model"]


@pytest.mark.parametrize(
    "text",
    [
        "import company\nm = company.TinyGPT()\n",
        "import company as c\nm = c.TinyGPT()\n",
        "import company.gpt\nm = company.gpt.TinyGPT()\n",
        "from company import gpt\nm = gpt.TinyGPT()\n",
        "from company.gpt import TinyGPT as T\nm = T()\n",
        "from company import TinyGPT\nclass Mine(TinyGPT):\n    pass\nm = Mine()\n",
    ],
)
def test_a_class_is_followed_however_it_is_named(text: str) -> None:
    package(init="from .gpt import TinyGPT\n", gpt=MODEL)
    assert kinds(text) == ["model"]


def test_bases_are_followed_through_modules_and_packages() -> None:
    package(init="from .gpt import TinyGPT\n", gpt="from layers import Base\nclass TinyGPT(Base): ...\n")
    install(layers="import torch.nn\nclass _Root(torch.nn.Module): ...\nclass Base(_Root): ...\n")
    assert kinds("from company import TinyGPT\nm = TinyGPT()\n") == ["model"]


@pytest.mark.parametrize(
    ("init", "text"),
    [
        ("class TinyGPT:\n    pass\n", "from company import TinyGPT\nm = TinyGPT()\n"),
        ("def TinyGPT(): ...\n", "from company import TinyGPT\nm = TinyGPT()\n"),
        ("from .gpt import Other\n", "from company import TinyGPT\nm = TinyGPT()\n"),
        ("from company import TinyGPT\n", "from company import TinyGPT\nm = TinyGPT()\n"),
        ("from .a import *\n", "from company import TinyGPT\nm = TinyGPT()\n"),
        ("", "from nowhere import TinyGPT\nm = TinyGPT()\n"),
    ],
)
def test_what_is_no_class_of_a_framework_stays_unknown(init: str, text: str) -> None:
    package(init=init, a="from .b import *\n", b="from .a import *\n")
    assert kinds(text) == [None]


def test_a_package_that_says_that_it_needs_no_framework_is_not_read() -> None:
    folder = package(init=MODEL).parent
    metadata = folder / "Company-1.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Name: company\nRequires-Dist: requests\n", encoding="utf-8")
    assert Packages(Environment("x", (folder,)), cached=False).file_of("company", Path("main.py")) is None
    metadata.write_text("Name: company\nRequires-Dist: torch>=2; extra == 'gpu'\n", encoding="utf-8")
    assert Packages(Environment("x", (folder,)), cached=False).file_of("company", Path("main.py")) is not None


def test_the_project_goes_before_the_environment() -> None:
    package(init=MODEL)
    Path("company.py").write_text("class TinyGPT:\n    pass\n", encoding="utf-8")
    assert kinds("from company import TinyGPT\nm = TinyGPT()\n") == [None]


def test_an_editable_installation_is_found_where_its_file_points(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "company.py").write_text(MODEL, encoding="utf-8")
    install(other="").joinpath("company.pth").write_text(f"import os\n# {folder}/no\n{folder}\n", encoding="utf-8")
    assert kinds("from company import TinyGPT\nm = TinyGPT()\n") == ["model"]


@pytest.mark.parametrize("name", ["Company", "company.GPT", "..company", "", ".", "company.no", "a b"])
def test_names_that_lead_nowhere_are_not_found(name: str) -> None:
    folder = package(init=MODEL, gpt=MODEL).parent
    assert Packages(Environment("x", (folder,)), cached=False).file_of(name, Path.cwd() / "main.py") is None


def test_nothing_of_the_environment_is_run(capfd: pytest.CaptureFixture[str]) -> None:
    folder = package(
        init=TRACE + "from . import gpt\ndef make():\n    return gpt.TinyGPT\nTinyGPT = make()\n", gpt=TRACE + MODEL
    )
    install(sitecustomize=TRACE, torch=TRACE, usercustomize=TRACE)
    assert kinds("from company import TinyGPT\nm = TinyGPT()\n") == ["model"]
    assert list(folder.parent.rglob("trace")) == []


# ---------------------------------------------------------------- who is asked


def no_stamp(question: Question) -> str:
    return ""


class Asked(RecordingWorld):
    @property
    def outside(self) -> list[tuple[str, ...]]:
        return [question for question in self.asked if question[0] in {"installed", "definition"}]


def asked(text: str) -> Iterator[tuple[str, ...]]:
    Path("main.py").write_text(text, encoding="utf-8")
    project = Project()
    file = project.file("main.py")
    world = Asked(project.world_for(file), no_stamp)
    facts = Facts(project.source(file), world)
    assert facts.records is not None
    facts.close()
    assert still_holds(world.asked, world.stamps, project.world_for(file), no_stamp)
    return iter(world.outside)


@pytest.mark.parametrize(
    "library",
    [
        "transformers",
        "torch",
        "datasets",
        "accelerate",
        "peft",
        "trl",
        "diffusers",
        "lightning",
        "sentence_transformers",
    ],
)
def test_names_that_our_data_knows_are_never_looked_for(library: str) -> None:
    install(**{f"{library}____init__": "Thing = make()\n"})
    assert list(asked(f"import {library}\nfrom {library} import Thing\nThing()\n{library}.Other()\n")) == []


def test_a_class_that_is_found_by_path_is_not_asked_of_jedi() -> None:
    package(init="from .gpt import TinyGPT\n", gpt=MODEL)
    assert {question[0] for question in asked("from company import TinyGPT, tool\nTinyGPT()\ntool()\n")} == {
        "installed"
    }


def test_a_change_in_the_environment_is_noticed() -> None:
    package(init=MODEL)
    Path("main.py").write_text("from company import TinyGPT\nTinyGPT()\n", encoding="utf-8")
    project = Project()
    world = RecordingWorld(project.world_for(project.file("main.py")), no_stamp)
    Facts(project.source(project.file("main.py")), world).close()
    package(init="class TinyGPT: ...\n")
    assert not still_holds(world.asked, world.stamps, Project().world_for(project.file("main.py")), no_stamp)


# ---------------------------------------------------------------- jedi, in its own process

COMPUTED = "from . import gpt\ndef make():\n    return gpt.TinyGPT\nTinyGPT = make()\n"


def test_a_class_whose_name_is_computed_is_found_by_jedi_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = package(init=COMPUTED, gpt=MODEL)
    found = Packages(Environment("x", (folder.parent,)), cached=True).definition("company", "TinyGPT")
    assert found == (folder / "gpt.py", "TinyGPT")
    monkeypatch.setattr(definitions, "PROGRAM", Path("nobody.py"))
    assert Packages(Environment("x", (folder.parent,)), cached=True).definition("company", "TinyGPT") == found
    assert Packages(Environment("x", (folder.parent,)), cached=False).definition("company", "TinyGPT") is None


@pytest.mark.parametrize("name", ["Nothing", "x; import os", "", "os"])
def test_what_jedi_does_not_find_is_not_known(name: str) -> None:
    folder = package(init="import os\n", gpt=MODEL)
    assert Packages(Environment("x", (folder.parent,)), cached=True).definition("company", name) is None


def test_what_jedi_could_not_tell_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = package(init=COMPUTED, gpt=MODEL)
    with monkeypatch.context() as patched:
        patched.setattr(definitions, "PROGRAM", Path("nobody.py"))
        assert Packages(Environment("x", (folder.parent,)), cached=True).definition("company", "TinyGPT") is None
    assert Packages(Environment("x", (folder.parent,)), cached=True).definition("company", "TinyGPT") is None
    package(init=f"{COMPUTED}\n")
    assert Packages(Environment("x", (folder.parent,)), cached=True).definition("company", "TinyGPT") is not None


@pytest.mark.parametrize(
    "program",
    [
        "import time\ntime.sleep(600)\n",
        "while True: pass\n",
        "print('no JSON')\n",
        "import os\nos.abort()\n",
        pytest.param(
            "import runpy\nlimit = runpy.run_path(GOTO)['_limit']\nlimit(5, 200)\nx = bytearray(1 << 30)\nprint('[\"a\", \"b\"]')\n",
            marks=NO_LIMITS,
        ),
    ],
)
def test_a_jedi_that_goes_on_for_ever_or_fails_costs_its_limit_and_no_more(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "program.py"
    path.write_text(program.replace("GOTO", repr(str(definitions.PROGRAM))), encoding="utf-8")
    monkeypatch.setattr(definitions, "PROGRAM", path)
    monkeypatch.setattr(definitions, "SECONDS", 1)
    assert Definitions([tmp_path], None).find(tmp_path, "company", "TinyGPT") is None


def test_without_jedi_nothing_is_started_and_nothing_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = package(init=COMPUTED, gpt=MODEL)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert Packages(Environment("x", (folder.parent,)), cached=True).definition("company", "TinyGPT") is None
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_can_not_be_written_costs_time_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    folder = package(init=COMPUTED, gpt=MODEL)
    found = Packages(Environment("x", (folder.parent,)), cached=True).definition("company", "TinyGPT")
    assert found == (folder / "gpt.py", "TinyGPT")
