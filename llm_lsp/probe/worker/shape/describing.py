"""Tensors in words: `[2, 13, 30]`, `int64[2,13]`."""

from __future__ import annotations

import torch

from .containers import listed, mapped

LONGEST_TEXT = 200


def sizes_text(tensor: torch.Tensor) -> str:
    return "[" + ", ".join(map(size_text, tensor.shape)) + "]"


def size_text(size: int) -> str:
    try:
        return str(int(size))
    except Exception:  # noqa: BLE001 (one that is not the same for all: of nested tensors, of sizes that hang on values)
        return "?"


def dtype_text(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def typed_text(value: object) -> str:
    """`int64[2,13]` for a tensor, the value itself for anything else."""
    if isinstance(value, torch.Tensor):
        return f"{dtype_text(value)}[{','.join(map(size_text, value.shape))}]"
    elements = listed(value)
    if elements is not None:
        inside = ", ".join(map(typed_text, elements))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, (int, float, str, bool, type(None))):
        return repr(value)
    return type(value).__name__


def shape_text(value: object) -> str | None:
    """The shape of a tensor, or of the tensors of a short tuple; None for what holds none."""
    if isinstance(value, torch.Tensor):
        return sizes_text(value)
    elements = listed(value)
    if elements is not None and 0 < len(elements) <= 8:
        inside = [shape_text(each) for each in elements]
        if any(text is not None for text in inside):
            return f"({', '.join(text or '-' for text in inside)})"
    return None


def shapes_text(value: object) -> str | None:
    """The shapes inside an argument or a result, however nested; None for what holds no tensor."""
    if isinstance(value, torch.Tensor):
        return sizes_text(value)
    elements, items = listed(value), mapped(value)
    if items is not None:
        inside = [(str(key), shapes_text(each)) for key, each in items.items()]
        found = [f"{key}: {text}" for key, text in inside if text is not None]
        return shortened(", ".join(found)) if found else None
    if elements is None:
        return None
    texts = [text for text in map(shapes_text, elements) if text is not None]
    if not texts:
        return None
    return texts[0] if len(texts) == 1 and isinstance(value, tuple) else shortened(f"({', '.join(texts)})")


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def tensors_in(value: object, depth: int = 4) -> list[torch.Tensor]:
    """The tensors inside an argument or a result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if depth == 0:
        return []
    elements = listed(value)
    if elements is None:
        elements = list((mapped(value) or {}).values())
    return [tensor for each in elements for tensor in tensors_in(each, depth - 1)]
