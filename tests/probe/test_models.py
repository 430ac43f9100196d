"""Files of models as people write them, with no arguments given: most run, none is called wrong."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.probe.conftest import Shapes

MODELS = Path(__file__).resolve().parents[1] / "models"
NEEDS_ARGUMENTS = {
    # Two numbers that are neither sizes nor indices of anything, and an activation.
    ("x_transformers_style.py", "AlibiPositionalBias"),
    ("x_transformers_style.py", "GLU"),
    # `**kwargs` alone say nothing of a width; its subclasses are made with one in `main`.
}
WARNING_KINDS = {"batch", "causality", "broadcast", "heads", "vocabulary", "unconfirmed"}
FILES = sorted(path for path in MODELS.rglob("*.py") if path.stem not in ("__init__", "config"))


def classes_of(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    methods = {
        node.name: {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    return [name for name, names in methods.items() if "forward" in names]


CLASSES = [(path, name) for path in FILES for name in classes_of(path)]


def test_there_are_ten_files_and_more_than_forty_classes() -> None:
    assert len(FILES) >= 10
    assert len(CLASSES) >= 40


def test_more_than_85_of_100_run() -> None:
    assert len(NEEDS_ARGUMENTS) <= 0.15 * len(CLASSES)
    assert {(path.name, name) for path, name in CLASSES} >= NEEDS_ARGUMENTS


@pytest.mark.xdist_group("torch")
@pytest.mark.parametrize(("path", "name"), CLASSES, ids=lambda value: value if isinstance(value, str) else value.stem)
def test_a_correct_class_is_never_called_wrong(path: Path, name: str, shapes: Shapes) -> None:
    done = shapes.outcome(path, name)
    result = done["result"]
    if (path.name, name) in NEEDS_ARGUMENTS:
        assert done["status"] == "needs_args"
        assert result["paste"].startswith(f"# probe: {name}(")
        return
    assert done["status"] == "ok", result
    assert [notice for notice in result["notices"] if notice["kind"] in WARNING_KINDS] == []
    assert any(row["type"] == name for row in result["rows"])
    assert result["assumptions"]
    assert result["confirmed"]
