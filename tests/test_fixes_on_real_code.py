"""Fixes at random places of real modules: nothing changes but what was asked for."""

from __future__ import annotations

import ast
import io
import json
import random
import sysconfig
import tokenize
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest

from llm_lsp.diagnostic import Applicability, Diagnostic, Severity
from llm_lsp.fixes import apply, realise
from llm_lsp.rule import (
    Change,
    Decorate,
    EnsureImport,
    InsertAfter,
    InsertBefore,
    Repair,
    SetArgument,
    Wrap,
    WrapFollowing,
)
from llm_lsp.source import Source

SAMPLE = 12
PLACES = 2


def modules(count: int, seed: int) -> list[Path]:
    """Some files of the standard library and of pip with what it carries along."""
    places = sysconfig.get_paths()
    stdlib, packages = Path(places["stdlib"]), Path(places["purelib"])
    left_out = {"lib2to3", "test", "tests", "idle_test", "site-packages", "dist-packages"}
    found = [one for one in stdlib.rglob("*.py") if left_out.isdisjoint(one.relative_to(stdlib).parts)]
    found += (packages / "pip").rglob("*.py")
    return random.Random(seed).sample(  # noqa: S311 - drawn again and again the same
        sorted(one for one in found if one.stat().st_size < 25_000), count
    )


def as_it_is(text: str) -> bytes:
    return text.encode()


def with_windows_line_ends(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def with_a_mark_and_no_final_line_end(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.rstrip().encode()


def with_tabs(text: str) -> bytes:
    lines = text.split("\n")
    steps = [(len(line) - len(line.lstrip(" "))) // 4 for line in lines]
    return "\n".join("\t" * step + line[4 * step :] for step, line in zip(steps, lines, strict=True)).encode()


def with_other_letters(text: str) -> bytes:
    return text.replace("self", "sélf_ß").replace("name", "名前").encode()


def with_form_feeds(text: str) -> bytes:
    return text.replace("\n    def ", "\n\f    def ").replace("\nclass ", "\n\fclass ").encode()


VARIANTS = (
    as_it_is,
    with_windows_line_ends,
    with_a_mark_and_no_final_line_end,
    with_tabs,
    with_other_letters,
    with_form_feeds,
)


def notebook_of(source: Source, random_: random.Random) -> bytes:
    """The module as a notebook, cut between its statements."""
    rows = [one.lineno for one in source.tree.body if not getattr(one, "decorator_list", [])]
    cuts = sorted({0, len(source.lines), *(row - 1 for row in rows if random_.random() < 0.3)})
    texts = ["\n".join(source.lines[start:end]) for start, end in pairwise(cuts)]
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(keepends=True) if random_.random() < 0.5 else text,
        }
        for text in texts
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


# ---------------------------------------------------------------- what a fix may change, taken back


def is_marker(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Name("INSERTED")):
            return True
        case ast.Import([ast.alias("added")]) | ast.ImportFrom(_, [ast.alias("added_name" | "first")]):
            return True
        case _:
            return False


def statements(node: ast.AST, name: str) -> list[ast.stmt]:
    """A block of a node by its name; a lambda's body is none."""
    block = getattr(node, name, None)
    return cast("list[ast.stmt]", block) if isinstance(block, list) else []


class TakenBack(ast.NodeTransformer):
    """The tree without what the fixes below add; names the statements that were wrapped."""

    def __init__(self) -> None:
        self.wrapped: list[str] = []

    def visit(self, node: ast.AST) -> ast.AST:
        for name in ("body", "orelse", "finalbody"):
            block = statements(node, name)
            if block:
                setattr(node, name, list(self.block(block)))
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                node.decorator_list = [one for one in node.decorator_list if not is_named(one, "DECORATED")]
            case ast.Call():
                node.keywords = [one for one in node.keywords if one.arg != "added_argument"]
            case ast.ImportFrom():
                node.names = [one for one in node.names if one.name != "added_name"]
            case _:
                pass
        return self.generic_visit(node)

    def block(self, block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in block:
            match statement:
                case ast.With([ast.withitem(ast.Name("WRAPPED"))], body):
                    self.wrapped += [ast.dump(one) for one in body]
                    yield from body
                case _ if not is_marker(statement):
                    yield statement
                case _:
                    pass


def is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def tokens(text: str) -> list[tuple[int, str]]:
    skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    return [
        (one.type, one.string)
        for one in tokenize.generate_tokens(io.StringIO(text).readline)
        if one.type not in skipped
    ]


def is_within(few: Sequence[object], many: Sequence[object]) -> bool:
    rest = iter(many)
    return all(one in rest for one in few)


def blocks_of(source: Source) -> Iterator[list[ast.stmt]]:
    """All blocks; an `elif` is none, though the tree has one there."""
    for node in ast.walk(source.tree):
        for name in ("body", "orelse", "finalbody"):
            block = statements(node, name)
            if block and not source.segment(source.range_of(block[0])).startswith("elif"):
                yield block


def random_changes(source: Source, random_: random.Random) -> Iterator[tuple[str, Change, list[ast.stmt]]]:
    """Changes at random places: their kind, and the statements that a wrapping one means."""
    blocks = list(blocks_of(source))
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    imports = [one for one in source.tree.body if isinstance(one, ast.ImportFrom) and one.module and not one.level]
    for _ in range(PLACES):
        block = random_.choice(blocks)
        first, last = sorted((random_.randrange(len(block)), random_.randrange(len(block))))
        start, end = source.range_of(block[first]), source.range_of(block[last])
        yield "wrap", Wrap(start, end, "with WRAPPED:"), block[first : last + 1]
        yield "wrap", WrapFollowing(start, "with WRAPPED:"), block[first:]
        yield "insert", InsertBefore(start, "INSERTED"), []
        yield "insert", InsertAfter(end, "INSERTED"), []
        yield "decorate", Decorate(start, "DECORATED"), []
        if calls:
            yield "argument", SetArgument(source.range_of(random_.choice(calls)), "added_argument", "1"), []
        if imports:
            yield "import", EnsureImport(random_.choice(imports).module or "", "added_name"), []
    yield "import", EnsureImport("added"), []
    yield "import", EnsureImport("added", "first"), []


def check(source: Source, kind: str, change: Change, meant: Sequence[ast.stmt]) -> bool:
    """Whether there is a fix; asserts that it does what it says and nothing else."""
    fix = realise(source, Repair(kind, (change,), Applicability.SAFE))
    if fix is None:
        return False
    after = Source.from_bytes(source.path, source.with_edits(fix.edits), max_size=10**9)
    what = f"{source.path}: {change}\n{fix}"
    assert not after.problems, what
    taken_back = TakenBack()
    tree = taken_back.visit(ast.parse(after.text))
    assert ast.dump(tree) == ast.dump(source.tree), what
    assert is_within(tokens(source.text), tokens(after.text)), what
    if kind == "wrap":
        assert taken_back.wrapped == [ast.dump(one) for one in meant], what
        check_lines_of_wrapped(source, after, meant, what)
    elif kind in {"insert", "decorate"}:
        marks = [line for line in after.lines if line.strip().rstrip("\r") in {"INSERTED", "@DECORATED"}]
        assert len(marks) == 1, what
        lines = list(after.lines)
        lines.remove(marks[0])
        assert lines == source.lines, what
    elif kind == "import":
        assert is_within(source.lines, [*after.lines, *source.lines]), what
    return True


def check_lines_of_wrapped(before: Source, after: Source, meant: Sequence[ast.stmt], what: str) -> None:
    header = next(row for row, line in enumerate(after.lines) if line.strip().startswith("with WRAPPED:"))
    lines = after.lines[:header] + after.lines[header + 1 :]
    last = meant[-1].end_lineno or 0
    assert len(lines) == len(before.lines), what
    for row, (old, new) in enumerate(zip(before.lines, lines, strict=True), start=1):
        if row <= header or (row > last and not new.strip().startswith("#")):
            assert old == new, what
        assert old.strip() == new.strip(), what


def check_together(source: Source, changes: Sequence[Change]) -> None:
    """Many fixes in one pass: whatever was accepted, taken back it is the old tree."""
    fixes = [realise(source, Repair("", (one,), Applicability.SAFE)) for one in changes]
    diagnostics = [
        Diagnostic("LLM999", "a-rule", Severity.ERROR, "wrong", fix.edits[0].location, fix=fix) for fix in fixes if fix
    ]
    done = apply(source, diagnostics, unsafe=False)
    after = Source.from_bytes(source.path, done.data, max_size=10**9)
    assert not after.problems, (source.path, changes)
    assert ast.dump(TakenBack().visit(ast.parse(after.text))) == ast.dump(source.tree), (source.path, changes)
    assert bool(done.diagnostics) == bool(diagnostics)


def check_bytes(before: Source, change: Change) -> None:
    """Line ends, mark and final line end are those that the file had."""
    fix = realise(before, Repair("", (change,), Applicability.SAFE))
    if fix is None:
        return
    data = before.with_edits(fix.edits)
    assert data.startswith(b"\xef\xbb\xbf") == before.data.startswith(b"\xef\xbb\xbf")
    assert data.endswith(b"\n") == before.data.endswith(b"\n")
    if b"\r\n" in before.data and b"\n" not in before.data.replace(b"\r\n", b""):
        assert b"\n" not in data.replace(b"\r\n", b"")


def try_module(path: Path, seed: int) -> dict[str, list[int]]:
    """How many changes of each kind were tried in a module and its variants, and how many of them had a fix."""
    random_ = random.Random(f"{seed}{path.name}")  # noqa: S311 - drawn again and again the same
    counts: dict[str, list[int]] = {}
    try:
        text = path.read_text("utf-8")
        ast.parse(text)
    except (SyntaxError, UnicodeDecodeError):
        return counts
    variant = random_.choice(VARIANTS)
    sources = [Source.from_bytes(f"{variant.__name__}/{path.name}", variant(text), max_size=10**9)]
    notebook = notebook_of(Source.from_text("m.py", text, max_size=10**9), random_)
    sources.append(Source.from_bytes("m.ipynb", notebook, max_size=10**9))
    for source in sources:
        if source.problems or not source.tree.body:
            continue
        changes = list(random_changes(source, random_))
        check_together(source, [change for _, change, _ in changes])
        for kind, change, meant in changes:
            tally = counts.setdefault(kind, [0, 0])
            tally[0] += 1
            tally[1] += check(source, kind, change, meant)
            if not source.is_notebook:
                check_bytes(source, change)
    return counts


@pytest.mark.parametrize("path", modules(SAMPLE, seed=2), ids=lambda path: cast("Path", path).name)
def test_a_fix_does_what_it_says_and_nothing_else(path: Path) -> None:
    counts = try_module(path, seed=2)
    assert sum(fixes for _, fixes in counts.values()) > 0 or not counts
