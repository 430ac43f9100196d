"""Text to tree, also where the text is broken: what can't be parsed is masked, the rest keeps its tree.

Half-typed code must neither silence the rest of its file nor invent facts. So a broken assignment still binds its
targets, a broken header still has a body under a context that nobody knows: both to `UNKNOWN`, a name that no
program defines.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Position, Range
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:  # for broken files only, and its patterns take 3 ms
    from llm_lsp.logical_lines import LogicalLines, LongString

__all__ = ["UNKNOWN", "Parsed", "Problem", "empty_tree", "parse", "parse_cells", "python_tree", "too_deep"]

UNKNOWN = "__unknown__"
"""Stands where something was written that can't be read; resolves to nothing."""

_MOST_TRIES = 24
_MOST_ROWS_PARSED = 60_000
_IS_OF = "is syntax of Python"
_UNKNOWN_CALL = f"{UNKNOWN}()"

# Texts, which `re` compiles when they are first asked for: files that parse need none, and all take 4 ms.
_TOO_DEEP = r"too many (?:levels of indentation|nested parentheses|statically nested blocks)"
_WITHOUT_BODY = r"expected an indented block after .* on line (\d+)"
_ENDS_EARLY = r"expected an indented block|never closed|unexpected EOF|expected 'except' or 'finally'"
_INDENTATION = r"unexpected indent|unindent does not match|inconsistent use of tabs"
_HEADER = (
    r"(?P<indent>[ \t\f]*)(?P<keyword>async[ \t]+def|async[ \t]+for|async[ \t]+with|def|class|if|elif|else|for|while"
    r"|with|try|except|finally|match|case)\b(?![ \t]*(?:=[^=]|[.),\]]))"
)
_SIMPLE = (
    r"(?P<indent>[ \t\f]*)(?:(?P<decorator>@)|(?P<keyword>return|raise)\b"
    r"|(?P<targets>[A-Za-z_][\w.]*(?:[ \t]*(?:,|=(?!=))[ \t]*[A-Za-z_][\w.]*)*)[ \t]*(?::[^=]*)?=(?!=))?"
)
_DEFINITION = r"[ \t]*(?:@\w|(?:async[ \t]+)?def[ \t]|class[ \t]|import[ \t]|from[ \t]+[\w.]+[ \t]+import\b)"
_HEADERS = {
    "def": f"def {UNKNOWN}(*{UNKNOWN}, **{UNKNOWN}_)",
    "class": f"class {UNKNOWN}({UNKNOWN})",
    "for": f"for {UNKNOWN} in {_UNKNOWN_CALL}",
    "with": f"with {_UNKNOWN_CALL}",
    "try": "try",
    "else": "else",
    "finally": "finally",
    "except": f"except {UNKNOWN}",
    "match": f"match {_UNKNOWN_CALL}",
    "case": f"case {UNKNOWN} if {_UNKNOWN_CALL}",
}
_OF_ANOTHER_PYTHON = (
    # (Python, what it is, in the line, in the message)
    ("3.12", "type parameters", r"[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+[ \t]*(\[[^\n]*?\])[ \t]*[(:]", None),
    ("3.12", "a `type` statement", r"[ \t]*type[ \t]+\w+[ \t]*(?:\[.*\][ \t]*)?=", None),
    (
        "3.12",
        "quotes reused inside an f-string",
        None,
        r"f-string: (?:unmatched|expecting '}'|unterminated)",
    ),
    ("3.14", "a template string", r"(?i).*(?<![\w\"'])(?:t|tr|rt)[\"']", None),
    ("3.14", "`except` without parentheses", None, r"multiple exception types must be parenthesized"),
    ("3.11", "`except*`", r"[ \t]*except[ \t]*\*", None),
    ("2", "a `print` statement", r"[ \t]*print[ \t]+[\w\"'%(]", r"call to 'print'"),
    ("2", "an `exec` statement", r"[ \t]*exec[ \t]+[\w\"']", r"call to 'exec'"),
)


class Problem(NamedTuple):
    """Why a file, or a part of it, was not analysed."""

    code: str
    """`LLM000` syntax-error or `LLM002` not-analysed."""
    message: str
    range: Range


class Parsed(NamedTuple):
    """A module's tree and what of its text is not in it."""

    tree: ast.Module
    code: str
    """The text that was parsed: the module's, except for the masked rows."""
    problems: tuple[Problem, ...] = ()
    masked: tuple[tuple[int, int], ...] = ()


class _Failure(NamedTuple):
    message: str
    row: int
    column: int
    end_row: int
    end_column: int


class _Mask(NamedTuple):
    """`lines` instead of the rows from `first` to `last`."""

    first: int
    last: int
    lines: tuple[str, ...]
    may_lie_above: bool = False
    """Whether the fault may lie above the row in which the parser reports it."""


def empty_tree() -> ast.Module:
    """The tree of a file without statements."""
    return ast.Module(body=[], type_ignores=[])


def too_deep(row: int = 1, column: int = 1) -> Problem:
    """The problem of a file whose nesting no recursive program can follow."""
    here = Position(row, column)
    return Problem(
        "LLM002", "the code is nested too deeply to be analysed; split the expression or block", Range(here, here)
    )


def parse(text: str, before: Parsed | None = None) -> Parsed:
    r"""The tree of `text`, whose line ends are all `\n`; never raises.

    Args:
        text: of the module.
        before: that of a text that differs little, whose statements the tree then shares.
    """
    result = _tree(text, before)
    if isinstance(result, ast.Module):
        return Parsed(result, text)
    if isinstance(result, Problem):
        return Parsed(empty_tree(), text, (result,), _all_rows(text))
    return _Recovery(text, before).run(result)


def parse_cells(cells: Sequence[str], before: Parsed | None = None) -> Parsed:
    """The tree of texts, each of which ends in a line end, as one module; what one breaks stays inside it."""
    text = "".join(cells)
    starts = [1]
    for cell in cells:
        starts.append(starts[-1] + cell.count("\n"))
    result = _tree(text, before)
    if isinstance(result, ast.Module) and _keeps_apart(result, starts):
        return Parsed(result, text)
    parts = [parse(cell) for cell in cells]
    code = "".join(part.code for part in parts)
    problems: list[Problem] = []
    masked: list[tuple[int, int]] = []
    for part, start in zip(parts, starts, strict=False):
        masked += ((first + start - 1, last + start - 1) for first, last in part.masked)
        for problem in part.problems:
            if not (_IS_OF in problem.message and any(_IS_OF in said.message for said in problems)):
                problems.append(Problem(problem.code, problem.message, _moved(problem.range, start - 1)))
    result = _tree(code, before)
    if not isinstance(result, ast.Module):
        problems = problems or [too_deep()]
        return Parsed(empty_tree(), text, tuple(problems[:1]), _all_rows(text))
    return Parsed(result, code, tuple(problems), _merged(masked))


def _keeps_apart(tree: ast.Module, starts: list[int]) -> bool:
    """Whether each statement ends in the part in which it starts; `starts` are the parts' first rows."""
    return all(
        bisect_right(starts, node.lineno) == bisect_right(starts, node.end_lineno or node.lineno) for node in tree.body
    )


def _moved(range_: Range, rows: int) -> Range:
    start, end = range_.start, range_.end
    return Range(Position(start.row + rows, start.column), Position(end.row + rows, end.column))


def python_tree(text: str) -> ast.Module:
    """As `ast.parse`, without what Python would warn of: the text is not ours, and nobody could tell whose it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _tree(text: str, before: Parsed | None = None) -> ast.Module | _Failure | Problem:
    try:
        return python_tree(text) if before is None else _tree_after(before, text)
    except SyntaxError as error:
        row, column = error.lineno or 1, max(1, error.offset or 1)
        if re.search(_TOO_DEEP, error.msg):
            return too_deep(row, column)
        if header := re.search(_WITHOUT_BODY, error.msg):
            row = int(header[1])
            return _Failure(error.msg[: header.start(0)] + header[0].partition(" on line")[0], row, 1, row, 0)
        return _Failure(error.msg, row, column, error.end_lineno or row, error.end_offset or 0)
    except (RecursionError, MemoryError):
        return too_deep()


def _tree_after(before: Parsed, text: str) -> ast.Module:
    from llm_lsp.reparsing import tree_after_edit

    return tree_after_edit(text, before.code, before.tree, python_tree) or python_tree(text)


def _all_rows(text: str) -> tuple[tuple[int, int], ...]:
    return ((1, text.count("\n") + 1),)


class _Recovery:
    """Masks what is broken until the rest parses, or until the tries are used up."""

    def __init__(self, text: str, before: Parsed | None) -> None:
        self.before = before
        self.written = text.split("\n")
        self.lines = list(self.written)
        self.problems: list[Problem] = []
        self.masked: list[tuple[int, int]] = []
        self.tries = min(_MOST_TRIES, max(4, _MOST_ROWS_PARSED // len(self.lines)))
        self.other_python_was_said = False

    def run(self, failure: _Failure) -> Parsed:
        result: ast.Module | _Failure | Problem = failure
        while isinstance(result, _Failure) and self.tries > 0:
            before, result = result, self._mask(result)
            if result == before:
                break
        if isinstance(result, _Failure):
            result = self._mask_to_the_end(result)
        if isinstance(result, ast.Module):
            masked = _merged(self.masked)
            return Parsed(result, "\n".join(self.lines), self._one_of_each(masked), masked)
        problems = (result,) if isinstance(result, Problem) else tuple(self.problems)
        text = "\n".join(self.written)
        return Parsed(empty_tree(), text, problems, _all_rows(text))

    def _mask(self, failure: _Failure) -> ast.Module | _Failure | Problem:
        """Tries masks, the narrowest first; keeps the first one behind which the parser goes on."""
        row = min(failure.row, len(self.lines))
        widest: tuple[_Mask, _Failure] | None = None
        for mask in _masks(self.lines, row, failure.message):
            if self.tries <= 0:
                break
            self.tries -= 1
            result = _tree("\n".join(self._with(mask)), self.before)
            behind = mask.last if mask.may_lie_above else max(mask.last, failure.row)
            if not isinstance(result, _Failure) or result.row > behind:
                self._keep(mask, failure)
                return result
            widest = mask, result
        if widest is None:
            return failure
        self._keep(widest[0], failure)
        return widest[1]

    def _with(self, mask: _Mask) -> list[str]:
        return [*self.lines[: mask.first - 1], *mask.lines, *self.lines[mask.last :]]

    def _keep(self, mask: _Mask, failure: _Failure) -> None:
        whole_row = Range(Position(mask.first, 1), Position(mask.first, len(self.written[mask.first - 1]) + 1))
        if mask.may_lie_above:
            message = "a triple-quoted string starts or ends here without its other end"
            self._say(Problem("LLM000", message, whole_row))
        else:
            is_inside = mask.first <= failure.row <= mask.last
            here = self._range(failure, failure.row) if is_inside else whole_row
            self._say(Problem("LLM000", _clear(failure.message), here))
        self.lines[mask.first - 1 : mask.last] = mask.lines
        self.masked.append((mask.first, mask.last))

    def _say(self, problem: Problem) -> None:
        row = problem.range.start.row
        if any(first <= row <= last for first, last in self.masked):
            return
        other = _other_python(problem.message, self.written[row - 1])
        if not other:
            self.problems.append(problem)
        elif not self.other_python_was_said:
            self.problems.append(Problem(problem.code, other, problem.range))
            self.other_python_was_said = True

    def _mask_to_the_end(self, failure: _Failure) -> ast.Module | _Failure | Problem:
        """Gives up on everything from the module-level statement with the failure on."""
        first = min(failure.row, len(self.lines))
        while first > 1 and not _starts_at_module_level(self.lines[first - 1]):
            first -= 1
        while first > 1 and self.lines[first - 2].startswith("@"):
            first -= 1
        self._keep(_blank(first, len(self.lines)), failure)
        return _tree("\n".join(self.lines), self.before)

    def _one_of_each(self, masked: tuple[tuple[int, int], ...]) -> tuple[Problem, ...]:
        """The first problem of each region; blank rows do not part regions."""
        said: dict[int, Problem] = {}
        region, end = 0, 0
        regions: list[int] = []
        for first, last in masked:
            region += any(line.strip() for line in self.written[end : first - 1])
            regions.append(region)
            end = last
        for problem in self.problems:
            index = bisect_right(masked, (problem.range.start.row, len(self.written) + 1)) - 1
            said.setdefault(regions[max(0, index)], problem)
        return tuple(sorted(said.values(), key=lambda problem: problem.range))

    def _range(self, failure: _Failure, row: int) -> Range:
        width = len(self.written[row - 1]) + 1
        column = min(failure.column, width)
        end = failure.end_column if failure.end_row == failure.row else width
        return Range(Position(row, column), Position(row, min(max(end, column + 1), max(width, column))))


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return tuple(merged)


def _other_python(message: str, line: str) -> str | None:
    """Says which Python's syntax a line has, if it is not the running one's."""
    for version, what, in_line, in_message in _OF_ANOTHER_PYTHON:
        parts = tuple(map(int, version.split(".")))
        is_newer = parts > sys.version_info[: len(parts)]
        if not is_newer and parts > (2,):
            continue
        if (in_line and re.match(in_line, line)) or (in_message and re.search(in_message, message)):
            running = f"{sys.version_info[0]}.{sys.version_info[1]}"
            return f"{what} {_IS_OF} {version}, but llm-lint runs on Python {running}"
    return None


def _clear(message: str) -> str:
    """CPython's message as one clause."""
    return re.sub(r"[.?]? (?=Perhaps|Maybe|Did)", ", ", message).rstrip(".?").replace(", P", ", p")


def _masks(lines: list[str], row: int, message: str) -> list[_Mask]:
    """Ways to mask the statement that fails in `row`, the likeliest first."""
    from llm_lsp.logical_lines import scan

    layout = scan("\n".join(lines))
    first, last = layout.span_of(row)
    masks: list[_Mask] = []
    if "expected an indented block" in message:
        return [_statement(lines, first, last)]
    if "expected 'except' or 'finally'" in message and (opening := _open_try(lines, row)):
        indent = lines[opening - 1].partition("try")[0]
        if _indent(lines[row - 1]) == _indent(indent) < _indent(_next_line(lines, last)) and not re.match(
            _HEADER, lines[row - 1]
        ):
            masks.append(_padded(first, last, f"{indent}{_HEADERS['except']}:"))
        masks.append(_Mask(opening, opening, (_header(indent, "if"),)))
    if re.search(_INDENTATION, message):
        return [_blank(_first_decorator(lines, layout, first), _end_of_indented(lines, layout, first))]
    if layout.ends_in_string:
        masks += _of_open_string(lines, layout.strings)
    if named := re.search(r"opening parenthesis '.' on line (\d+)", message):
        first = min(first, layout.span_of(int(named.group(1)))[0])
    short = _end_of_open_bracket(lines, first, last)
    if row > short:
        masks.append(_statement(lines, row, row))
    if "never closed" in message and re.match(_HEADER, lines[first - 1]):
        masks.append(_statement(lines, first, first))
    if short < last:
        masks.append(_statement(lines, first, short))
    masks.append(_statement(lines, first, last))
    header = re.match(_HEADER, lines[first - 1])
    if header and header["keyword"] in {"try", "elif", "else", "except", "finally", "case"}:
        masks.append(_padded(first, last, _header(lines[first - 1], "if")))
    end = _end_of_indented(lines, layout, first)
    if end > last:
        masks.append(_unknown(lines, first, end))
    return masks


def _of_open_string(lines: list[str], strings: Sequence[LongString]) -> list[_Mask]:
    """Masks for a text with an odd number of triple quotes, in which text and code have changed places from one on.

    Python reports the last string then. The one to blame is the first that ends in code; either its own end is
    missing, or it is itself the end of a string, whose text then fails above it.
    """
    first, last = next(((one.first_row, one.last_row) for one in strings if one.holds_code), _rows(strings[-1]))
    above = _tree("\n".join(lines[: first - 1]))
    if isinstance(above, _Failure) and above.row < first and not re.search(_ENDS_EARLY, above.message):
        if any(re.match(_DEFINITION, line) for line in lines[above.row - 1 : first - 1]):
            return []
        return [_unknown(lines, above.row, first, may_lie_above=True)]
    return [_unknown(lines, first, _end_of_text(lines, first, last), may_lie_above=True)]


def _rows(string: LongString) -> tuple[int, int]:
    return string.first_row, string.last_row


def _end_of_text(lines: list[str], first: int, last: int) -> int:
    """Where a string from `first` to `last`, whose end is missing, has code: before the next definition or dedent."""
    indent = _indent(lines[first - 1])
    for row in range(first + 1, last + 1):
        line = lines[row - 1]
        if line.strip() and (re.match(_DEFINITION, line) if indent == 0 else _indent(line) < indent):
            return row - 1
    return last


def _statement(lines: list[str], first: int, last: int) -> _Mask:
    """Masks a statement so that what it binds or opens is unknown."""
    line = lines[first - 1]
    if header := re.match(_HEADER, line):
        keyword = header["keyword"].split()[-1]
        has_body = _indent(_next_line(lines, last)) > _indent(line)
        if keyword in {"match", "case"} and not has_body:
            return _padded(first, last, f"{header['indent']}{_UNKNOWN_CALL}")
        return _padded(first, last, _header(line, keyword) + ("" if has_body else f" {_UNKNOWN_CALL}"))
    simple = re.match(_SIMPLE, line)
    if not simple:
        return _blank(first, last)
    if simple["decorator"]:
        return _padded(first, last, f"{simple['indent']}@{UNKNOWN}")
    if simple["keyword"]:
        return _padded(first, last, f"{simple['indent']}{simple['keyword']} {_UNKNOWN_CALL}")
    if simple["targets"]:
        return _padded(first, last, f"{simple['indent']}{simple['targets']} = {_UNKNOWN_CALL}")
    return _padded(first, last, f"{simple['indent']}{_UNKNOWN_CALL}")


def _header(line: str, keyword: str) -> str:
    """A header of the kind `keyword` about which nothing is known, with the indentation of `line`."""
    indent = line[: len(line) - len(line.lstrip(" \t\f"))]
    return f"{indent}{_HEADERS.get(keyword, f'{keyword} {_UNKNOWN_CALL}')}:"


def _padded(first: int, last: int, line: str) -> _Mask:
    return _Mask(first, last, (line, *("",) * (last - first)))


def _unknown(lines: list[str], first: int, last: int, *, may_lie_above: bool = False) -> _Mask:
    """Masks rows by one statement about which nothing is known."""
    line = lines[first - 1]
    indent = line[: len(line) - len(line.lstrip(" \t\f"))]
    return _Mask(first, last, (f"{indent}{_UNKNOWN_CALL}", *("",) * (last - first)), may_lie_above)


def _first_decorator(lines: list[str], layout: LogicalLines, row: int) -> int:
    """The row of the first of the decorators right above `row`, or `row`."""
    for first, last in reversed(layout.spans):
        if last < row:
            if not lines[first - 1].lstrip().startswith("@"):
                break
            row = first
    return row


def _blank(first: int, last: int) -> _Mask:
    return _Mask(first, last, ("",) * (last - first + 1))


def _indent(line: str) -> int:
    """The width of a line's indentation, tabs to the next multiple of 8 as in CPython."""
    bare = line.lstrip(" \t\f")
    return len(line[: len(line) - len(bare)].rpartition("\f")[2].expandtabs(8))


def _is_blank(line: str) -> bool:
    bare = line.strip()
    return not bare or bare.startswith("#")


def _next_line(lines: list[str], last: int) -> str:
    return next((line for line in lines[last:] if not _is_blank(line)), "")


def _end_of_indented(lines: list[str], layout: LogicalLines, first: int) -> int:
    """The last row of the run of statements that are indented as deep as row `first`, or deeper."""
    indent, last = _indent(lines[first - 1]), first
    for start, end in layout.spans:
        if start >= first:
            if _indent(lines[start - 1]) < indent:
                break
            last = end
    return last


def _end_of_open_bracket(lines: list[str], first: int, last: int) -> int:
    """Where a statement from `first` to `last` ends if one of its brackets was never closed."""
    indent = _indent(lines[first - 1])
    for row in range(first + 1, last + 1):
        line = lines[row - 1]
        if not line.strip() or (_indent(line) <= indent and not line.lstrip().startswith((")", "]", "}"))):
            return row - 1
    return last


def _open_try(lines: list[str], row: int) -> int | None:
    """The row of the `try:` above `row` that has no handler."""
    limit = _indent(lines[row - 1])
    closed: set[int] = set()
    for above in range(row - 1, 0, -1):
        found = re.match(r"[ \t\f]*(try[ \t]*:|except\b|finally[ \t]*:)", lines[above - 1])
        if found and (indent := _indent(lines[above - 1])) >= limit:
            if not found[1].startswith("try"):
                closed.add(indent)
            elif indent not in closed:
                return above
            else:
                closed.discard(indent)
    return None


def _starts_at_module_level(line: str) -> bool:
    return bool(re.match(r"[A-Za-z_@]", line)) and not re.match(r"(?:elif|else|except|finally)\b", line)
