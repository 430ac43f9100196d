"""The extension for VS Code, as far as it can be judged without running it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import llm_lsp
from llm_lsp.server.options import Options, read_options
from scripts import bundle_server
from tests.server.wire import Wire

ROOT = Path(__file__).resolve().parents[1]
CLIENT = ROOT / "vscode-client"


def read_json(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


def addresses(lock: dict[str, Any]) -> list[str]:
    """The packages of a lock file that are tied to one place on the net."""
    return [name for name, entry in lock["packages"].items() if "://" in entry.get("resolved", "")]


def test_the_lock_file_names_no_address_so_that_any_registry_will_do() -> None:
    assert addresses(read_json(ROOT / "package-lock.json")) == []
    assert "omit-lockfile-registry-resolved=true" in (ROOT / ".npmrc").read_text(encoding="utf-8")


def test_an_address_in_a_lock_file_is_seen() -> None:
    lock = {"packages": {"a": {"resolved": "https://registry.example/a.tgz"}, "b": {"resolved": "vscode-client"}}}
    assert addresses(lock) == ["a"]


def test_every_package_of_the_lock_file_has_a_checksum() -> None:
    packages = read_json(ROOT / "package-lock.json")["packages"]
    installed = {name: entry for name, entry in packages.items() if name.startswith("node_modules/")}
    assert installed
    assert [name for name, entry in installed.items() if not entry.get("link") and not entry.get("integrity")] == []


def test_there_is_one_lock_file() -> None:
    assert not (CLIENT / "package-lock.json").exists()


def test_the_extension_has_the_version_of_the_package_that_it_carries() -> None:
    assert read_json(CLIENT / "package.json")["version"] == llm_lsp.__version__


# ---------------------------------------------------------------- settings

OF_THE_CLIENT = {"importStrategy", "path", "trace.server"}
"""What only the extension reads."""
OF_THE_SERVER = {"trusted"}
"""What the extension sends by itself: the editor knows it, nobody sets it."""


def declared() -> dict[str, Any]:
    """The settings of the extension, without their prefix."""
    properties = read_json(CLIENT / "package.json")["contributes"]["configuration"]["properties"]
    return {name.removeprefix("llmLint."): entry for name, entry in properties.items()}


def sent_by_default() -> dict[str, Any]:
    return {name: entry["default"] for name, entry in declared().items() if name not in OF_THE_CLIENT}


def documented() -> set[str]:
    table = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8").partition("## Settings of the editor")[2]
    return set(re.findall(r"^\| `([\w.]+)` \|", table.partition("\n## ")[0], re.MULTILINE))


def test_the_extension_has_exactly_the_settings_that_the_server_takes_besides_its_own() -> None:
    assert set(declared()) - OF_THE_CLIENT == documented() - OF_THE_SERVER


def test_the_defaults_of_the_extension_are_those_of_the_server() -> None:
    problems: list[str] = []
    options = read_options(sent_by_default(), problems)
    assert problems == []
    assert options == read_options({"logLevel": "warning"}, problems)
    assert options.default == Options().default


@pytest.mark.parametrize("name", sorted(set(declared()) - OF_THE_CLIENT))
def test_the_server_takes_every_setting_that_it_is_sent(name: str) -> None:
    entry = declared()[name]
    values = entry.get("enum", [not entry["default"]] if entry["type"] == "boolean" else ["something"])
    problems: list[str] = []
    changed = [read_options(sent_by_default() | {name: value}, problems) for value in values]
    assert problems == []
    assert any(options != read_options(sent_by_default(), problems) for options in changed)


def test_settings_that_choose_a_program_can_not_be_set_by_a_workspace_that_is_not_trusted() -> None:
    manifest = read_json(CLIENT / "package.json")
    restricted = set(manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"])
    assert restricted >= {f"llmLint.{name}" for name in ("path", "interpreter", "importStrategy")}
    for name in restricted:
        assert declared()[name.removeprefix("llmLint.")]["scope"] == "machine-overridable"


def test_the_extension_is_not_loaded_when_the_editor_starts() -> None:
    events = read_json(CLIENT / "package.json")["activationEvents"]
    assert not {"*", "onStartupFinished"} & set(events)


# ---------------------------------------------------------------- the problem matcher


def matched(line: str) -> dict[str, str] | None:
    (matcher,) = read_json(CLIENT / "package.json")["contributes"]["problemMatchers"]
    pattern = matcher["pattern"]
    found = re.match(pattern["regexp"], line)
    names = ("file", "line", "column", "severity", "code", "message")
    return {name: found[pattern[name]] for name in names} if found else None


def test_the_problem_matcher_reads_what_the_task_prints() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "llm_lsp", "check", "--output-format", "concise", "examples/support-bot"],
        cwd=ROOT,
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    found = [matched(line) for line in lines if ".py:" in line]
    assert len(found) > 5
    assert None not in found
    assert {"file", "line", "column", "severity", "code", "message"} == set(found[0] or ())
    # The row of a cell is none of the file.
    assert [line for line in lines if ".ipynb:" in line and matched(line)] == []
    assert matched("Found 3 problems (3 errors) in 2 files.") is None


# ---------------------------------------------------------------- the bundled server


def distribution(folder: Path, name: str, version: str, *requires: str) -> None:
    metadata = folder / f"{name}-{version}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    required = "".join(f"Requires-Dist: {each}\n" for each in requires)
    metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}", encoding="utf-8")


def test_a_requirement_that_only_an_old_python_has_is_missed_in_the_bundle(tmp_path: Path) -> None:
    distribution(tmp_path, "cattrs", "26.1", "attrs>=25", "exceptiongroup>=1.1; python_version < '3.11'")
    distribution(tmp_path, "attrs", "24.1")
    assert list(bundle_server.missing(tmp_path)) == [
        "cattrs requires attrs>=25, and 24.1 is bundled",
        'cattrs requires exceptiongroup>=1.1; python_version < "3.11", which is not bundled',
    ]


def test_what_is_asked_for_by_nobody_is_not_missed_in_the_bundle(tmp_path: Path) -> None:
    distribution(tmp_path, "a", "1", "docs-only; extra == 'docs'", "old; python_version < '3.10'", "libcst>=1.8")
    assert list(bundle_server.missing(tmp_path)) == []


def test_a_compiled_part_in_the_bundle_is_seen(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "fast.cpython-312-x86_64-linux-gnu.so").touch()
    (tmp_path / "package" / "slow.py").touch()
    assert [path.name for path in bundle_server.compiled(tmp_path)] == ["fast.cpython-312-x86_64-linux-gnu.so"]


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script that starts the server, beside a bundle, as they lie in the extension."""
    folder = tmp_path_factory.mktemp("extension")
    assert bundle_server.main(folder / "bundled") == 0
    (folder / "launcher").mkdir()
    return Path(shutil.copy(CLIENT / "launcher" / "launch.py", folder / "launcher"))


@pytest.fixture
def server(launcher: Path, tmp_path: Path) -> Iterator[Wire]:
    # Neither the packages of this environment nor its variables count, as in an interpreter with nothing installed.
    wire = Wire(tmp_path, program=(sys.executable, "-I", "-S", launcher, "bundled"))
    yield wire
    wire.close()


@pytest.mark.xdist_group("packaging")
def test_the_bundled_server_runs_where_nothing_is_installed(server: Wire) -> None:
    result = server.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    assert result["serverInfo"] == {"name": "llm-lint", "version": llm_lsp.__version__}
    server.notify("initialized", {})
    report = server.request("workspace/executeCommand", {"command": "llm-lint.debugInformation"})
    assert "libcst is not installed" in report
    rules = server.request("workspace/executeCommand", {"command": "llm-lint.rules"})
    assert {"code": "LLM101", "name": "tokenizer-of-another-model", "severity": "error", "default": True} in rules


@pytest.mark.xdist_group("packaging")
def test_the_bundled_command_finds_the_faults_of_the_example(launcher: Path) -> None:
    command = [sys.executable, "-I", "-S", str(launcher), "bundled", "check", "examples/support-bot"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, encoding="utf-8")
    assert done.returncode == 1, done.stderr
    assert "LLM101" in done.stdout


def test_a_module_of_the_user_takes_no_place_of_ours(tmp_path: Path) -> None:
    for name in ("json", "llm_lsp", "packaging"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('of the user')", encoding="utf-8")
    command = [sys.executable, str(CLIENT / "launcher" / "launch.py"), "installed", "--version"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, encoding="utf-8")
    assert done.stdout == f"llm-lint {llm_lsp.__version__}\n"


def test_an_interpreter_says_which_llm_lint_it_has() -> None:
    command = [sys.executable, str(CLIENT / "launcher" / "launch.py"), "inspect"]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    version = ".".join(map(str, sys.version_info[:3]))
    assert json.loads(done.stdout) == {
        "version": version,
        "executable": sys.executable,
        "llmLint": llm_lsp.__version__,
    }


def test_the_page_of_the_extension_lists_its_settings_with_their_defaults() -> None:
    text = (CLIENT / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `llmLint\.([\w.]+)` \| (?:`([^`]*)`)? *\|", text, re.MULTILINE))
    expected = {name: entry["default"] for name, entry in declared().items()}
    assert listed == {name: json.dumps(value).strip('"') for name, value in expected.items()}


def test_the_page_of_the_extension_lists_its_commands() -> None:
    text = (CLIENT / "README.md").read_text(encoding="utf-8")
    commands = read_json(CLIENT / "package.json")["contributes"]["commands"]
    titles = {f"{command['category']}: {command['title']}" for command in commands}
    assert titles == set(re.findall(r"^\| (LLM Lint: [^|]+?) \|", text, re.MULTILINE))


def pictures_named(page: str) -> set[str]:
    return set(re.findall(r"media/screenshots/(\w+)\.png", page))


def test_the_pictures_in_the_readme_are_those_that_the_script_takes() -> None:
    shown = pictures_named((CLIENT / "README.md").read_text(encoding="utf-8"))
    script = (CLIENT / "e2e" / "readme.spec.ts").read_text(encoding="utf-8")
    assert shown
    assert shown == set(re.findall(r'picture\(workbench, "(\w+)"\)', script))
    assert shown == {path.stem for path in (CLIENT / "media" / "screenshots").iterdir()}


def test_a_picture_that_nobody_takes_is_seen() -> None:
    assert pictures_named("![A card](media/screenshots/card.png)") == {"card"}


def test_what_the_package_is_to_carry_is_there_or_is_built() -> None:
    lines = (CLIENT / ".vscodeignore").read_text(encoding="utf-8").splitlines()
    carried = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert "package.json" in carried
    built = ("dist/", "bundled/")
    assert [path for path in carried if not path.startswith(built) and not list(CLIENT.glob(path))] == []


def test_the_oldest_vs_code_that_is_promised_is_the_oldest_that_is_tried() -> None:
    promised = read_json(CLIENT / "package.json")["engines"]["vscode"]
    installed = (CLIENT / "e2e" / "install.sh").read_text(encoding="utf-8")
    started = (CLIENT / "e2e" / "codeServer.ts").read_text(encoding="utf-8")
    for name in ("NEWEST", "OLDEST"):
        assert re.findall(rf"^{name}=(\S+)", installed, re.MULTILINE) == re.findall(rf'{name} = "(\S+)"', started)
    # code-server counts as VS Code does, from 4 instead of 1.
    oldest = re.findall(r"^OLDEST=4\.(\d+)\.", installed, re.MULTILINE)
    assert promised == f"^1.{oldest[0]}.0"
