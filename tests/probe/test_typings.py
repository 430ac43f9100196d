"""The stubs against the libraries that they describe."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

TYPINGS = Path(__file__).resolve().parents[2] / "typings"


def declared(text: str) -> Iterator[str]:
    """The public names of a stub: its classes, functions and constants, with the members of classes."""
    for node in ast.parse(text).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            yield node.name
            if isinstance(node, ast.ClassDef):
                # Attributes stand on instances, so that the class need not have them.
                yield from (f"{node.name}.{member.name}" for member in node.body if isinstance(member, ast.FunctionDef))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def missing(module: str, text: str) -> list[str]:
    found: list[str] = []
    for name in declared(text):
        owner: object = importlib.import_module(module)
        for part in name.split("."):
            owner = getattr(owner, part, None)
        if owner is None:
            found.append(name)
    return found


@pytest.mark.xdist_group("torch")
@pytest.mark.parametrize("path", sorted(TYPINGS.rglob("*.pyi")), ids=lambda path: str(path.relative_to(TYPINGS)))
def test_every_name_of_a_stub_is_one_of_the_library(path: Path) -> None:
    parts = path.relative_to(TYPINGS).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    assert missing(module, path.read_text(encoding="utf-8")) == []


@pytest.mark.xdist_group("torch")
def test_an_invented_name_would_be_seen() -> None:
    assert missing("torch", "def make_tensor_from_thin_air() -> None: ...") == ["make_tensor_from_thin_air"]
    assert missing("torch", "class Tensor:\n    def fly(self) -> None: ...") == ["Tensor.fly"]
