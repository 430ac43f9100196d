"""Which parameter of a library's function a positional argument goes to, by the signatures of its releases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llm_lsp.facts.values import Class, Object, Symbol

if TYPE_CHECKING:
    from llm_lsp.facts.events import CallRecord

__all__ = ["position_of"]

_WORKED_ON = frozenset({"text", "images", "inputs", "input", "input_ids", "input_features", "pixel_values"})
"""What the only argument of `tokenizer(text)` or `model(ids)` may be."""


def position_of(record: CallRecord, parameter: str) -> int | None:
    """Where a call passes the parameter if it does so by position; None where that isn't known.

    Only calls with positional arguments make anybody read a table of signatures.
    """
    given = record.arguments.positional
    if not given:
        return None
    # The most frequent of all calls; to read transformers' table for each file that has one would take 7 ms.
    if record.name == "()" and len(given) == 1 and parameter not in _WORKED_ON:
        return None
    from llm_lsp.knowledge.signatures import signature_of

    for name in _names_of(record):
        signature = signature_of(name)
        if signature is not None:
            return signature.position(parameter)
    return None


def _names_of(record: CallRecord) -> list[str]:
    """What is called, by the names under which the tables know it, the nearest first."""
    receiver = record.receiver
    if receiver is None:
        return [record.name]
    if isinstance(receiver, Symbol):
        return [f"{receiver.name}.{record.name}"]
    cls = receiver.cls if isinstance(receiver, Object) else receiver
    if isinstance(cls, str):
        return [f"{cls}.{record.name}"]
    # What the program itself defines has been entered, and is no call of a library.
    is_inherited = isinstance(cls, Class) and record.name != "()"
    return [f"{base}.{record.name}" for base in cls.library_bases()] if is_inherited and isinstance(cls, Class) else []
