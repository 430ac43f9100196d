from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from llm_lsp import registry
from llm_lsp.diagnostic import Severity
from llm_lsp.registry import BrokenPack, NoRulePack, RuleEntry
from llm_lsp.settings import Settings

RULE = '''
from llm_lsp.rule import Bad, Good, Rule, Severity

class {name}(Rule):
    """Something is wrong.

    At length.
    """

    code = "{code}"
    severity = Severity.WARNING
    triggers = ("torch",)
    bad = [Bad("x = 1  # <- wrong")]
    good = [Good("y = 1")]

    def check(self, facts):
        yield from ()
'''

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Leaves in a folder on `sys.path` what an installer would leave there; nothing else is installed."""
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if Path(folder).name != "site-packages"])
    before = set(sys.modules)

    def install(package: str, files: Mapping[str, str], entry_points: str | None = None, to: str = "site") -> Path:
        site = tmp_path / to
        for name, text in {"__init__.py": "", **files}.items():
            file = site / package / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(exist_ok=True)
        declared = f"[llm_lsp.rules]\nrules = {package}\n" if entry_points is None else entry_points
        (info / "entry_points.txt").write_text(declared, encoding="utf-8")
        if str(site) not in sys.path:
            sys.path.insert(0, str(site))
        importlib.invalidate_caches()
        return site

    yield install
    for name in set(sys.modules) - before:
        if name.partition(".")[0].endswith("_rules"):
            del sys.modules[name]


def rule(code: str, name: str = "Fault") -> str:
    return RULE.format(code=code, name=name)


def row(code: str, module: str, name: str) -> str:
    return f'RULES = (("{code}", "{name}", "some", "error", False, ("a",), ("LLM9",), "safe", "{module}", "Fault"),)\n'


def of_packs() -> list[RuleEntry]:
    return [entry for entry in registry.entries() if not entry.is_builtin]


def entry(code: str, name: str, *, default: bool = True) -> RuleEntry:
    return RuleEntry(code, name, "some", Severity.ERROR, default, ("x",), (), "none", "some.module", "Fault")


# ---------------------------------------------------------------- packs


def test_a_checkout_that_is_not_installed_has_no_rules_and_says_what_to_do(install: Install) -> None:
    install("innocent", {}, entry_points="[console_scripts]\nllm_lsp = innocent:main\n")
    with pytest.raises(NoRulePack, match=r"pip install -e \."):
        registry.entries()


def test_a_pack_without_an_index_is_known_by_importing_its_rules(install: Install) -> None:
    install("acme_rules", {"memory/__init__.py": "", "memory/kept_graph.py": rule("ACME1", "KeptGraph")})
    assert of_packs() == [
        RuleEntry(
            "ACME1",
            "kept-graph",
            "memory",
            Severity.WARNING,
            True,  # noqa: FBT003
            ("torch",),
            (),
            "none",
            "acme_rules.memory.kept_graph",
            "KeptGraph",
        )
    ]


def test_a_pack_with_an_index_is_known_without_importing_its_rules(install: Install) -> None:
    install("acme_rules", {"index.py": row("ACME1", "acme_rules.kept", "kept"), "kept.py": "raise SystemExit"})
    (found,) = of_packs()
    assert (found.code, found.name, found.severity, found.default) == ("ACME1", "kept", Severity.ERROR, False)
    assert (found.triggers, found.supersedes, found.fix) == (("a",), ("LLM9",), "safe")
    assert "acme_rules.kept" not in sys.modules


def test_the_index_of_a_pack_and_its_rules_say_the_same(install: Install) -> None:
    install("one_rules", {"index.py": row("ACME1", "one_rules.kept", "kept"), "kept.py": rule("ACME1")})
    assert of_packs()[0][-2:] == registry.scan("one_rules")[0][-2:]


def test_a_rule_about_an_index_is_no_index(install: Install) -> None:
    install("acme_rules", {"index.py": rule("ACME1")})
    assert [found.name for found in of_packs()] == ["index"]


def test_packs_are_found_in_egg_info_and_among_other_entry_points(install: Install) -> None:
    declared = (
        "[other]\nllm_lsp.rules = wrong\n\n# llm_lsp.rules\n[llm_lsp.rules]\nx = acme_rules [extra]\n[last]\na=b\n"
    )
    site = install("acme_rules", {"kept.py": rule("ACME1")}, entry_points=declared)
    (site / "acme_rules-1.0.dist-info").rename(site / "acme_rules.egg-info")
    assert [found.code for found in of_packs()] == ["ACME1"]


def test_leftovers_of_an_interrupted_uninstall_are_not_a_pack(install: Install) -> None:
    site = install("acme_rules", {"kept.py": rule("ACME1")})
    (site / "acme_rules-1.0.dist-info").rename(site / "~cme_rules-1.0.dist-info")
    with pytest.raises(NoRulePack):
        registry.entries()


def test_a_pack_on_two_folders_of_the_path_counts_once(install: Install) -> None:
    install("acme_rules", {"kept.py": rule("ACME1")})
    install("acme_rules", {"kept.py": rule("ACME1")}, to="other")
    assert [found.code for found in of_packs()] == ["ACME1"]


def test_path_entries_that_are_no_folders_are_passed_over(install: Install, tmp_path: Path) -> None:
    install("acme_rules", {"kept.py": rule("ACME1")})
    archive = tmp_path / "archive.zip"
    archive.write_bytes(b"PK")
    sys.path[:0] = [str(archive), str(tmp_path / "missing")]
    assert [found.code for found in of_packs()] == ["ACME1"]


@pytest.mark.parametrize("files", [{"a.py": rule("ACME1"), "b.py": rule("ACME1")}, {"not_analysed.py": rule("ACME1")}])
def test_a_code_or_a_name_that_is_taken_twice_is_an_error(install: Install, files: Mapping[str, str]) -> None:
    install("acme_rules", files)
    with pytest.raises(BrokenPack, match=r"`(ACME1|not-analysed)` is defined twice, by `\w+` and by `acme_rules`"):
        registry.entries()


def test_packs_that_share_a_code_are_both_named(install: Install) -> None:
    install("acme_rules", {"a.py": rule("ACME1")})
    install("else_rules", {"b.py": rule("ACME1")})
    with pytest.raises(BrokenPack, match="`ACME1` is defined twice, by `acme_rules` and by `else_rules`"):
        registry.entries()


@pytest.mark.parametrize(
    "files",
    [
        {"kept.py": "import not_there_at_all"},
        {"kept.py": "raise RuntimeError('no')"},
        {"deep/__init__.py": "1 / 0"},
        {"index.py": "import not_there_at_all"},
        {"index.py": "RULES = (('ACME1',),)"},
        {"index.py": row("ACME1", "acme_rules.kept", "kept").replace("safe", "perhaps")},
        {"kept.py": rule("ACME1").replace("severity =", "gravity =")},
        {"kept.py": rule("ACME1", "One") + rule("ACME2", "Two")},
    ],
)
def test_a_pack_that_cant_be_used_is_named(install: Install, files: Mapping[str, str]) -> None:
    install("acme_rules", files)
    with pytest.raises(BrokenPack, match="rule pack `acme_rules`"):
        registry.entries()


def test_a_declared_pack_that_is_not_there_is_named_with_the_declaration(install: Install) -> None:
    install("acme_rules", {}, entry_points="[llm_lsp.rules]\nx = gone_rules\n")
    with pytest.raises(BrokenPack, match=r"`gone_rules`, declared in .*acme_rules-1\.0\.dist-info/entry_points\.txt"):
        registry.entries()


def test_classes_that_rules_of_a_pack_share_are_no_rules(install: Install) -> None:
    shared = "from llm_lsp.rule import Rule\nclass Shared(Rule):\n    pass\n"
    install("acme_rules", {"shared.py": shared, "kept.py": "from acme_rules.shared import Shared\n" + rule("ACME1")})
    assert [found.code for found in of_packs()] == ["ACME1"]


def test_finding_the_rules_imports_neither_metadata_nor_the_interpreter(install: Install) -> None:
    site = install("acme_rules", {"index.py": row("ACME1", "acme_rules.kept", "kept")})
    heavy = "['importlib.metadata', 'llm_lsp.facts', 'llm_lsp.rule', 'json', 'pkgutil']"
    code = f"""
import sys
before = set(sys.modules)
from llm_lsp import registry
assert [entry.code for entry in registry.entries()] == ["ACME1", "LLM000", "LLM001", "LLM002"]
print([name for name in {heavy} if name in set(sys.modules) - before])
"""
    root = Path(registry.__file__).parent.parent
    path = f"import sys; sys.path[:] = [{str(root)!r}, {str(site)!r}, *filter(lambda f: 'packages' not in f, sys.path)]"
    done = subprocess.run([sys.executable, "-S", "-c", f"{path}\n{code}"], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


# ---------------------------------------------------------------- one rule


def test_a_rule_is_loaded_and_explained_by_its_entry(install: Install) -> None:
    install("acme_rules", {"kept.py": rule("ACME1")})
    (found,) = of_packs()
    assert registry.load(found).code == "ACME1"
    assert registry.explanation(found) == "Something is wrong.\n\nAt length."


def test_an_index_that_names_what_is_gone_is_an_error_of_the_pack(install: Install) -> None:
    install("acme_rules", {"index.py": row("ACME1", "acme_rules.gone", "gone")})
    with pytest.raises(BrokenPack, match=r"rule ACME1 can't be loaded from `acme_rules\.gone`"):
        registry.load(of_packs()[0])


def test_our_own_codes_are_known_and_explained(install: Install) -> None:
    install("acme_rules", {"kept.py": rule("ACME1")})
    own = [found for found in registry.entries() if found.is_builtin]
    assert registry.known(own) == {"LLM000": "syntax-error", "LLM001": "unused-suppression", "LLM002": "not-analysed"}
    assert all(registry.explanation(found).count("\n\n") >= 1 for found in own)


# ---------------------------------------------------------------- selection

RULES = [
    entry("LLM000", "syntax-error"),
    entry("LLM101", "one"),
    entry("LLM102", "two"),
    entry("LLM110", "taste", default=False),
    entry("LLM301", "three"),
]


def chosen(settings: Settings, path: str = "train.py") -> str:
    return " ".join(found.code.removeprefix("LLM") for found in registry.enabled(RULES, settings, Path(path)))


@pytest.mark.parametrize(
    ("settings", "codes"),
    [
        (Settings(), "000 101 102 301"),
        (Settings(select=("LLM1",)), "000 101 102 110"),
        (Settings(select=("one", "LLM301")), "000 101 301"),
        (Settings(select=("ALL",)), "000 101 102 110 301"),
        (Settings(extend_select=("taste",)), "000 101 102 110 301"),
        (Settings(extend_select=("LLM11",)), "000 101 102 110 301"),
        (Settings(ignore=("LLM1",)), "000 301"),
        (Settings(ignore=("one",)), "000 102 301"),
        (Settings(ignore=("ALL",), extend_select=("LLM10",)), "101 102"),
        (Settings(ignore=("LLM000",)), "101 102 301"),
        # The longer prefix wins, on whichever side it stands; `ignore` wins a tie.
        (Settings(select=("LLM1",), ignore=("LLM10",)), "000 110"),
        (Settings(select=("LLM101",), ignore=("LLM1",)), "000 101"),
        (Settings(select=("LLM1",), ignore=("LLM1",)), "000"),
        (Settings(select=("one",), ignore=("LLM101",)), "000"),
        (Settings(extend_select=("LLM101",), ignore=("LLM",)), "101"),
        (Settings(severity={"one": None, "LLM102": None, "LLM301": Severity.WARNING}), "000 301"),
        (Settings(select=("one",), severity={"LLM101": None}), "000"),
        (Settings(ignore=("LLM9", "nothing")), "000 101 102 301"),
    ],
)
def test_the_more_precise_word_decides(settings: Settings, codes: str) -> None:
    assert chosen(settings) == codes


def test_ignores_per_file_hold_for_their_files(tmp_path: Path) -> None:
    settings = Settings(per_file_ignores={"tests/*": ("LLM1",), "*.ipynb": ("three",)}, root=tmp_path)
    assert chosen(settings, str(tmp_path / "train.py")) == "000 101 102 301"
    assert chosen(settings, str(tmp_path / "tests" / "train.py")) == "000 301"
    assert chosen(settings, str(tmp_path / "tests" / "train.ipynb")) == "000"
