from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from llm_lsp import registry

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "index_rules.py"

RULE = '''
from llm_lsp.rule import Bad, Good, Rule, Severity


class Found(Rule):
    """Something is wrong."""

    code = "{code}"
    severity = Severity.INFORMATION
    default = False
    triggers = ({triggers},)
    supersedes = ("ACME9", "ACME8")
    bad = [Bad("x = 1  # <- wrong")]
    good = [Good("y = 1")]

    def check(self, facts):
        yield from ()
'''


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script, at work on a pack of two rules."""
    package = tmp_path / "indexed_rules"
    for name, code, triggers in (
        ("first", "ACME1", "'torch'"),
        ("second_one", "ACME2", ", ".join(f"'word {number} \"quoted\"'" for number in range(9))),
    ):
        path = package / "some_kind" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RULE.format(code=code, triggers=triggers), encoding="utf-8")
    for folder in (package, package / "some_kind"):
        (folder / "__init__.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.invalidate_caches()
    spec = importlib.util.spec_from_file_location("index_rules", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PACKAGE", package.name)
    monkeypatch.setattr(module, "INDEX", package / "index.py")
    yield module
    for name in [name for name in sys.modules if name.partition(".")[0] == package.name]:
        del sys.modules[name]


def run(script: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["index_rules.py", *arguments])
    code: int = script.main()
    return code


def test_the_index_of_the_built_in_pack_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("index_rules", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert run(module, monkeypatch, "--check") == 0, "run `python scripts/index_rules.py`"


def test_an_index_that_is_missing_or_old_is_told_and_not_written(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(script, monkeypatch, "--check") == 1
    assert not script.INDEX.exists()
    assert "index.py of indexed_rules is out of date: run `python scripts/index_rules.py`" in capsys.readouterr().err
    assert run(script, monkeypatch) == 0
    assert run(script, monkeypatch, "--check") == 0
    script.INDEX.write_text(script.INDEX.read_text(encoding="utf-8").replace("ACME2", "ACME3"), encoding="utf-8")
    assert run(script, monkeypatch, "--check") == 1


def test_the_index_says_what_the_rules_say(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    scanned = registry.scan("indexed_rules")
    assert [entry.name for entry in scanned] == ["first", "second-one"]
    run(script, monkeypatch)
    importlib.invalidate_caches()
    index = importlib.import_module("indexed_rules.index")
    assert [registry.from_row(row) for row in index.RULES] == list(scanned)
