"""Changes of a program's text that keep its lines: row N of the mutant is row N of the original."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Function", "Mutant", "Program", "Replacement", "dotted", "last_name", "mutant", "mutants_of"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Replacement(NamedTuple):
    """The text between two offsets becomes `text`."""

    start: int
    end: int
    text: str


class Mutant(NamedTuple):
    """A right program with one thing taken away or changed, so that a rule has something to find."""

    code: str
    """Of the rule that should report it."""
    kind: str
    text: str
    changed: tuple[int, int]
    """First and last row of what the change is about."""
    places: tuple[tuple[int, int], ...]
    """Rows, first to last, in one of which a report counts as finding it."""


class Program:
    """The text and the tree of a program, and where each node sits."""

    def __init__(self, text: str) -> None:
        """Raises SyntaxError or ValueError where the text is no program."""
        self.text = text
        self.tree = ast.parse(text)
        self._starts = [0]
        for line in text.split("\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.nodes = list(ast.walk(self.tree))
        self.parents: dict[ast.AST, ast.AST] = {
            child: parent for parent in self.nodes for child in ast.iter_child_nodes(parent)
        }

    def offset(self, row: int, column: int) -> int:
        """The offset of an `ast` position, whose columns count UTF-8 bytes."""
        start = self._starts[row - 1]
        line = self.text[start : self._starts[row] - 1]
        return start + (column if line.isascii() else len(line.encode()[:column].decode("utf-8", "replace")))

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The offsets of a node."""
        return self.offset(node.lineno, node.col_offset), self.offset(
            node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        )

    def rows(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The rows of a node, a function's decorators included."""
        first = node.lineno
        if isinstance(node, Function | ast.ClassDef) and node.decorator_list:
            first = min(first, node.decorator_list[0].lineno)
        return first, node.end_lineno or node.lineno

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What encloses a node, from the inside."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function around a node."""
        return next((each for each in self.ancestors(node) if isinstance(each, Function)), None)

    def scope_rows(self, node: ast.AST) -> tuple[int, int]:
        """The rows of the function around a node, or of the whole program."""
        function = self.function_of(node)
        return (1, len(self._starts)) if function is None else self.rows(function)

    def statement_of(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node belongs to."""
        if isinstance(node, ast.stmt):
            return node
        return next(each for each in self.ancestors(node) if isinstance(each, ast.stmt))

    def replaced(self, replacements: Iterable[Replacement]) -> str:
        """The text after replacements that do not overlap; line ends that one swallows are added at its end."""
        text = self.text
        for start, end, new in sorted(replacements, reverse=True):
            lost = text.count("\n", start, end) - new.count("\n")
            text = text[:start] + new + "\n" * lost + text[end:]
        return text

    def followed(self, statement: ast.stmt, text: str) -> Replacement:
        """A simple statement is followed by another one on its row."""
        end = self.span(statement)[1]
        return Replacement(end, end, f"; {text}")

    def source(self, node: ast.expr) -> str:
        """The text of an expression."""
        return self.text[slice(*self.span(node))]

    def with_argument(self, call: ast.Call, text: str) -> Replacement:
        """A call gets one more argument, after those that it has."""
        end = self.span(call)[1] - 1
        has_comma = not (call.args or call.keywords) or self.text[:end].rstrip().endswith(",")
        return Replacement(end, end, text if has_comma else f", {text}")

    def blanked(self, node: ast.expr | ast.stmt, filler: str = "") -> Replacement:
        """A node becomes `filler`."""
        return Replacement(*self.span(node), filler)

    def dedented(self, block: ast.With | ast.AsyncWith | ast.If) -> list[Replacement]:
        """The header of a block goes, its body takes the header's indentation; [] where that can't be done."""
        first, last = block.body[0], block.body[-1]
        if first.lineno == block.lineno or (isinstance(block, ast.If) and block.orelse):
            return []
        header = Replacement(*self._header(block, first), "")
        surplus = first.col_offset - block.col_offset
        inside = self._rows_inside_strings()
        rows = range(first.lineno, (last.end_lineno or last.lineno) + 1)
        moved = [self._starts[row - 1] for row in rows if row not in inside]
        return [header, *(Replacement(at, at + self._indent(at, surplus), "") for at in moved)]

    def _header(self, block: ast.stmt, first: ast.stmt) -> tuple[int, int]:
        end = self._starts[first.lineno - 1] - 1
        start = self.offset(block.lineno, block.col_offset)
        # Comments between the header and its body stay what they are.
        header_end = self.text.find(":", self._last_header_offset(block))
        return start, min(end, header_end + 1)

    def _last_header_offset(self, block: ast.stmt) -> int:
        if isinstance(block, ast.With | ast.AsyncWith):
            last = block.items[-1]
            return self.span(last.optional_vars or last.context_expr)[1]
        return self.span(block.test)[1] if isinstance(block, ast.If) else self.span(block)[0]

    def _line(self, at: int) -> str:
        return self.text[at:].partition("\n")[0]

    def _indent(self, at: int, surplus: int) -> int:
        line = self._line(at)
        return min(surplus, len(line) - len(line.lstrip(" \t")))

    def _rows_inside_strings(self) -> frozenset[int]:
        rows: set[int] = set()
        begun: list[int] = []
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type == tokenize.STRING:
                rows.update(range(token.start[0] + 1, token.end[0] + 1))
            elif tokenize.tok_name[token.type] == "FSTRING_START":
                begun.append(token.start[0])
            elif tokenize.tok_name[token.type] == "FSTRING_END":
                rows.update(range(begun.pop() + 1, token.end[0] + 1))
        return frozenset(rows)


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of names; other parts of a chain are empty words."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value)}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def last_name(node: ast.AST) -> str:
    """The last word of `dotted`."""
    return dotted(node).rpartition(".")[2]


def mutant(
    program: Program,
    code: str,
    kind: str,
    replacements: Sequence[Replacement],
    changed: tuple[int, int],
    places: Iterable[tuple[int, int]] = (),
) -> Mutant | None:
    """The mutant that the replacements make; None where there are none, or it would be no program."""
    text = program.replaced(replacements)
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    return Mutant(code, kind, text, changed, tuple(places) or (changed,)) if replacements else None


def mutants_of(
    program: Program,
    code: str,
    kind: str,
    replacements: Sequence[Replacement],
    node: ast.expr | ast.stmt,
    *,
    anywhere: bool = False,
) -> Iterator[Mutant]:
    """The mutant, if there is one; a report counts in the function around `node`, or anywhere in the program."""
    places = [(1, program.text.count("\n") + 1)] if anywhere else [program.scope_rows(node)]
    found = mutant(program, code, kind, replacements, program.rows(node), places)
    if found is not None:
        yield found
