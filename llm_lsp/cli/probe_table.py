"""The result of a probe in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from llm_lsp.files import shown
from llm_lsp.probe.protocol import Done, Error, Result, Row, outcomes
from llm_lsp.probe.wording import amount, failure, name_of, size, summary

__all__ = ["print_outcome"]

_MEMORY = (
    ("fp32", "weights in float32"),
    ("bf16", "in bfloat16"),
    ("int8", "in int8"),
    ("int4", "in int4"),
    ("adam", "Adam's states"),
    ("kv_cache", "keys and values"),
)
_SOURCES = {
    "user": "yours",
    "callsite": "from a call in the file",
    "default": "a default",
    "config": "from the config",
    "name": "by its name",
    "first_layer": "by the first layer",
    "stand_in": "a stand-in",
}


def print_outcome(done: Done, console: Console) -> None:
    """Everything that a run has found out, one class after the other."""
    for outcome in outcomes(done):
        _print_one(outcome, console)


def _print_one(done: Done, console: Console) -> None:
    result = done.result
    console.print(Text.assemble((name_of(result), "bold"), f"  {_verdict(done)}"))
    if result.get("rows"):
        console.print(_table(result))
    for line in (*_totals(result), *_assumptions(result), *_notices(result)):
        console.print(line)
    if (error := result.get("error")) is not None:
        for line in _error(error):
            console.print(line)
    if paste := result.get("paste"):
        console.print(Text.assemble("  write what it takes above the class: ", (str(paste), "bold")))
    console.print()


def _verdict(done: Done) -> str:
    if done.status != "ok":
        return failure(done)
    method = done.result.get("method")
    how = (
        "run for real"
        if done.result.get("confirmed")
        else {"fake": "run abstractly", "meta": "run abstractly"}.get(str(method))
    )
    return summary(done) + (f" · {how}" if how else "")


def _table(result: Result) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name, justify in (
        ("module", "left"),
        ("type", "left"),
        ("in", "left"),
        ("out", "left"),
        ("dtype", "left"),
        ("parameters", "right"),
        ("FLOPs", "right"),
        ("line", "right"),
    ):
        table.add_column(name, justify="right" if justify == "right" else "left", overflow="fold")
    above: list[str] = []
    for row in result.get("rows") or ():
        name = row.get("name") or ""
        while above and not name.startswith(f"{above[-1]}."):
            above.pop()
        table.add_row(*map(Text, _cells(row, above)))
        if name:
            above.append(name)
    return table


def _cells(row: Row, above: list[str]) -> Iterator[str]:
    """The columns of a row that stands under others; a list of modules has no row, for it isn't called."""
    name = row.get("name") or ""
    calls = row.get("calls") or 0
    yield "  " * (len(above) + 1 if name else 0) + (name[len(above[-1]) + 1 if above else 0 :] or "(all)")
    yield (row.get("type") or "") + (f" x{calls}" if calls > 1 else "")
    yield row.get("in") or ""
    yield row.get("out") or ""
    yield row.get("dtype") or ""
    yield f"{row.get('params') or 0:,}"
    flops = row.get("flops")
    yield amount(flops) if flops is not None else ""
    yield str(row.get("line") or "")


def _totals(result: Result) -> Iterator[Text]:
    sizes = (result.get("totals") or {}).get("bytes") or {}
    length = (result.get("totals") or {}).get("kv_cache_length")
    known = [(words, count) for key, words in _MEMORY if (count := sizes.get(key)) is not None]
    if known:
        told = ", ".join(f"{words} {size(count)}" for words, count in known)
        yield Text(
            f"  memory: {told}" + (f" at {length:,} tokens" if length and sizes.get("kv_cache") is not None else "")
        )


def _assumptions(result: Result) -> Iterator[Text]:
    for each in result.get("assumptions") or ():
        source = _SOURCES.get(each.get("source") or "", each.get("source") or "")
        line = f", line {each['line']}" if "line" in each else ""
        yield Text(f"  assumed: {each.get('what')} = {each.get('value')} ({source}{line})", style="dim")


def _notices(result: Result) -> Iterator[Text]:
    for notice in result.get("notices") or ():
        yield Text.assemble(
            ("  notice: ", "yellow"), _place(notice.get("file"), notice.get("line")), notice.get("message") or ""
        )


def _error(error: Error) -> Iterator[Text]:
    frames = error.get("frames") or []
    for frame in frames:
        yield Text.assemble("  ", _place(frame.get("file"), frame.get("line")), frame.get("function") or "")
    if frames:
        yield from _excerpt(error)


def _excerpt(error: Error) -> Iterator[Text]:
    frame = (error.get("frames") or [{}])[-1]
    number, column, end = frame.get("line") or 0, frame.get("col"), frame.get("end_col")
    try:
        lines = Path(frame.get("file") or "").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    if not 0 < number <= len(lines):
        return
    text = lines[number - 1]
    gutter = f"{number:6} | "
    yield Text(gutter + text)
    if column is not None:
        stop = end if end is not None and frame.get("end_line") in (None, number) and end > column else len(text)
        marks = "".join(" " if character != "\t" else "\t" for character in text[:column])
        yield Text.assemble(" " * (len(gutter) - 2) + "| " + marks, ("^" * max(1, stop - column), "red"))
    tensors = frame.get("tensors") or {}
    if tensors:
        told = ", ".join(f"`{name}` {shape}" for name, shape in tensors.items())
        yield Text(f"         with {told}", style="dim")


def _place(file: str | None, line: int | None) -> str:
    return f"{shown(Path(file))}:{line or 1}: " if file else ""
