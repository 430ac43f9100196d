"""Shapes in annotations, in the words of jaxtyping: `Float[Tensor, "batch seq dim"]`."""

from __future__ import annotations

import ast

KINDS = {
    "Float": "float",
    "Float32": "float",
    "Float16": "float",
    "BFloat16": "float",
    "Num": "float",
    "Real": "float",
    "Inexact": "float",
    "Shaped": "float",
    "Int": "ids",
    "Int64": "ids",
    "Int32": "ids",
    "Integer": "ids",
    "UInt": "ids",
    "Bool": "mask",
}


def annotated_axes(annotation: object) -> tuple[str, tuple[str, ...]] | None:
    """The kind of tensor and the names of its axes; None where the annotation has no shape."""
    dims = getattr(annotation, "dim_str", None)
    dtypes = getattr(annotation, "dtype", None)
    if isinstance(dims, str):
        kind = KINDS.get(getattr(dtypes, "__name__", ""), "float")
        return kind, tuple(dims.split())
    return of_text(annotation) if isinstance(annotation, str) else None


def of_text(text: str) -> tuple[str, tuple[str, ...]] | None:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
            name = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            dims = node.slice.elts[1]
            if name in KINDS and isinstance(dims, ast.Constant) and isinstance(dims.value, str):
                return KINDS[name], tuple(dims.value.split())
    return None
