"""Who may import whom; read from the syntax, so that an import inside a function counts too."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

LAYERS = (
    "named_tuples",
    "diagnostic",
    "builtin_codes",
    "decoding",
    "logical_lines",
    "splicing",
    "snippets",
    "reparsing",
    "parsing",
    "magics",
    "notebook",
    "suppression",
    "source",
    "versions",
    "knowledge",
    "world",
    "remembering",
    "facts",
    "rule",
    "fixes",
    "toml",
    "globs",
    "setting_kinds",
    "settings",
    "registry",
    "files",
    "declarations",
    "environment",
    "goto",
    "definitions",
    "packages",
    "outlines",
    "importers",
    "project",
    "whole_program",
    "linter",
    "collector",
    "render",
    "examples",
    "testing",
    "probe",
    "server",
    "cli",
    "__main__",
)
"""The modules and packages of `llm_lsp`; each may import the ones above it and itself."""

OUTSIDE = {
    "cli": {"rich"},
    "globs": {"pathspec"},
    "server": {"pygls", "lsprotocol"},
    "versions": {"packaging"},
}
"""What each may import that neither we nor the standard library ship."""

RULES_MAY_IMPORT = {"llm_lsp.rule"}
WORKER = "llm_lsp.probe.worker"
"""Runs in the user's interpreter, where llm-lint isn't installed."""
WORKER_MAY_IMPORT = {"torch", "transformers"}
SYNTAX_TREES = {"ast", "libcst", "tokenize", "parso", "jedi"}


def modules(folder: Path, root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path.read_text(encoding="utf-8")


def engine() -> dict[str, str]:
    return dict(modules(ROOT / "llm_lsp", ROOT))


def rule_pack() -> dict[str, str]:
    return dict(modules(ROOT / "rules" / "llm_lsp_rules", ROOT / "rules"))


def imports(text: str) -> Iterator[str]:
    """The dotted names that a module imports; `from a import b` counts as both `a` and `a.b`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # A relative import stays relative here, and so is in no list of what may be imported.
            source = "." * node.level + (node.module or "")
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def layer_violations(sources: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for module, text in sources.items():
        if module == "llm_lsp" or is_of_the_worker(module):
            continue
        unit = module.split(".")[1]
        if unit not in LAYERS:
            found.append(f"{module} is in no layer: give it a place in LAYERS")
            continue
        below = LAYERS[: LAYERS.index(unit) + 1]
        for name in imports(text):
            first, _, rest = name.partition(".")
            if first == "llm_lsp":
                target = rest.partition(".")[0]
                if target in LAYERS and target not in below:
                    found.append(f"{module} imports {name}, which lies above it")
            elif first == "llm_lsp_rules":
                found.append(f"{module} imports {name}: the engine knows rule packs by their entry points only")
            elif first not in sys.stdlib_module_names and first not in OUTSIDE.get(unit, set()):
                found.append(f"{module} imports {name}, which only {users_of(first)} may")
    return found


def is_of_the_worker(module: str) -> bool:
    return f"{module}.".startswith(f"{WORKER}.")


def worker_violations(sources: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for module, text in sources.items():
        depth = module.removeprefix(WORKER).count(".")
        for name in imports(text):
            outer = name.lstrip(".")
            dots = len(name) - len(outer)
            if dots > depth:
                found.append(f"{module} imports {name}, which lies outside of the worker")
            elif not dots and outer.partition(".")[0] not in sys.stdlib_module_names | WORKER_MAY_IMPORT:
                found.append(f"{module} imports {name}, which the user's interpreter need not have")
    return found


def users_of(distribution: str) -> str:
    return ", ".join(unit for unit, names in OUTSIDE.items() if distribution in names) or "nobody"


def rule_violations(sources: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    for module, text in sources.items():
        for name in imports(text):
            first = name.partition(".")[0]
            if first in SYNTAX_TREES:
                found.append(f"{module} imports {name}: facts describe, rules judge")
            elif first == "llm_lsp" and not any(name == may or name.startswith(may + ".") for may in RULES_MAY_IMPORT):
                found.append(f"{module} imports {name}: a rule sees llm_lsp.rule and nothing else of ours")
            elif first not in sys.stdlib_module_names and first not in ("llm_lsp", "llm_lsp_rules"):
                found.append(f"{module} imports {name}, which llm-lint does not install")
    return found


def importers_of(library: str) -> list[str]:
    sources = {**engine(), **rule_pack()}
    return [name for name, text in sources.items() if library in {each.partition(".")[0] for each in imports(text)}]


def test_the_engine_keeps_to_its_layers() -> None:
    assert layer_violations(engine()) == []


def test_every_layer_exists() -> None:
    names = {path.stem for path in (ROOT / "llm_lsp").iterdir()}
    assert [layer for layer in LAYERS if layer not in names] == []


def test_the_architecture_page_names_every_layer() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert [layer for layer in LAYERS if f"`{layer}.py`" not in page and f"`{layer}/`" not in page] == ["__main__"]


def test_rules_see_the_contract_of_rules_and_nothing_else_of_ours() -> None:
    assert rule_violations(rule_pack()) == []


def test_there_are_rules_to_look_at() -> None:
    assert len([name for name in rule_pack() if name.count(".") == 2]) >= 6


def test_the_worker_imports_itself_and_what_it_probes() -> None:
    assert worker_violations({module: text for module, text in engine().items() if is_of_the_worker(module)}) == []


@pytest.mark.parametrize("library", ["torch", "transformers"])
def test_the_worker_alone_imports(library: str) -> None:
    assert [module for module in importers_of(library) if not is_of_the_worker(module)] == []


@pytest.mark.parametrize("library", ["numpy", "jedi"])
def test_nothing_of_ours_imports(library: str) -> None:
    assert importers_of(library) == []


@pytest.mark.parametrize("library", ["pygls", "lsprotocol"])
def test_the_server_alone_knows_the_protocol(library: str) -> None:
    importers = importers_of(library)
    assert importers
    assert [module for module in importers if not module.startswith("llm_lsp.server.")] == []


# ---------------------------------------------------------------- the tests above can fail


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("llm_lsp.diagnostic", "from llm_lsp.rule import Rule"),
        ("llm_lsp.facts.values", "def f():\n    import llm_lsp.linter"),
        ("llm_lsp.facts.values", "from ..cli import main"),
        ("llm_lsp.facts.values", "from llm_lsp import registry"),
        ("llm_lsp.render.json", "from llm_lsp.cli.check import check"),
        ("llm_lsp.linter", "import llm_lsp_rules"),
        ("llm_lsp.linter", "import torch.nn"),
        ("llm_lsp.cli.check", "import pygls.server"),
        ("llm_lsp.server.hover", "from llm_lsp.cli.check import run"),
        ("llm_lsp.source", "from packaging.version import Version"),
        ("llm_lsp.helpers", ""),
    ],
)
def test_a_planted_import_out_of_line_is_found(module: str, text: str) -> None:
    assert len(layer_violations({module: text})) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "import ast",
        "from llm_lsp.facts import Facts",
        "from llm_lsp import source",
        "import libcst as cst",
        "if True:\n    import torch",
    ],
)
def test_a_planted_import_in_a_rule_is_found(text: str) -> None:
    assert len(rule_violations({"llm_lsp_rules.memory.planted": text})) >= 1


@pytest.mark.parametrize(
    "text",
    ["import llm_lsp.diagnostic", "from llm_lsp.probe.worker import shape", "import numpy", "from ... import protocol"],
)
def test_a_planted_import_in_the_worker_is_found(text: str) -> None:
    assert len(worker_violations({"llm_lsp.probe.worker.shape.planted": text})) >= 1


def test_an_import_in_line_is_not_reported() -> None:
    assert layer_violations({"llm_lsp.linter": "import gc\nfrom llm_lsp.facts import Facts"}) == []
    assert rule_violations({"llm_lsp_rules.memory.planted": "import re\nfrom llm_lsp.rule import Rule"}) == []
    worker = "import json, torch.nn\nfrom . import rows\nfrom ..limits import Limits\nfrom .rows import Row"
    assert worker_violations({"llm_lsp.probe.worker.shape.planted": worker}) == []
