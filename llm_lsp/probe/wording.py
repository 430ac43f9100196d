"""Outcomes in a line, the same for the terminal and the editor."""

from __future__ import annotations

from llm_lsp.probe.protocol import Done, Result

__all__ = ["amount", "failure", "name_of", "size", "summary"]

_THOUSANDS = ("", " k", " M", " G", " T", " P")
_BINARY = (" bytes", " KiB", " MiB", " GiB", " TiB")


def amount(count: float) -> str:
    """A number in three digits: `10.8 M`."""
    return _scaled(count, 1000, _THOUSANDS)


def size(count: float) -> str:
    """A number of bytes in three digits: `41.2 MiB`."""
    return _scaled(count, 1024, _BINARY)


def _scaled(count: float, step: int, units: tuple[str, ...]) -> str:
    unit = 0
    while count >= 999.5 and unit < len(units) - 1:
        count, unit = count / step, unit + 1
    digits = 0 if unit == 0 or count >= 99.95 else 1 if count >= 9.995 else 2
    return f"{count:.{digits}f}{units[unit]}"


def name_of(result: Result) -> str:
    """What was run."""
    target = result.get("target")
    if isinstance(target, dict):
        return str(target.get("checkpoint") or target.get("class") or "the model")
    via = result.get("via")
    return f"{target or 'the file'} (inside {via})" if via else target or "the file"


def summary(done: Done) -> str:
    """What a lens has room for: shapes and costs, or what went wrong."""
    if done.status not in ("ok", "running"):
        return failure(done)
    parts: list[str] = []
    inputs = ", ".join(_shape_alone(text) for text in (done.result.get("inputs") or {}).values() if "[" in text)
    outputs = done.result.get("outputs")
    if inputs and outputs:
        parts.append(f"{inputs} → {outputs}")
    totals = done.result.get("totals") or {}
    if (params := totals.get("params")) is not None:
        parts.append(f"{amount(params)} parameters")
    if (flops := totals.get("flops")) is not None:
        parts.append(f"{amount(flops)}FLOP" if flops >= 1000 else f"{flops} FLOP")
    warnings = len(done.result.get("notices") or ())
    if warnings:
        parts.append(f"{warnings} notice{'s' if warnings > 1 else ''}")
    return " · ".join(parts) or "ran without an error"


def _shape_alone(text: str) -> str:
    """`[2, 13]` of `int64[2,13]`."""
    return f"[{', '.join(text.partition('[')[2].rstrip(']').split(','))}]" if text.endswith("]") else text


def failure(done: Done) -> str:
    """What went wrong, as one clause."""
    error = done.result.get("error") or {}
    said = error.get("message") or done.result.get("problem") or ""
    frames = error.get("frames") or []
    function = frames[-1].get("function") if frames and done.status in ("timeout", "crash", "memory") else None
    place = f" in `{function}`, line {frames[-1].get('line')}" if function else ""
    match done.status:
        case "user_error" | "unsupported" | "no_torch" | "exit":
            return said or done.status.replace("_", " ")
        case "needs_args":
            return said or "needs arguments that can't be guessed"
        case "missing_package":
            names = ", ".join(f"`{name}`" for name in done.result.get("missing") or ())
            return said or f"{names or 'a package'} is not installed here"
        case _:
            return (said or done.status) + place
