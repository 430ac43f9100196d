"""Logical lines and comments, found without a parser, so that broken files and notebook cells have them too."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from llm_lsp.named_tuples import NamedTuple

__all__ = ["Comment", "LogicalLines", "LongString", "end_of_logical_line", "scan"]

_TOKEN = re.compile(r"""#[^\n]*|\"{3}|'{3}|["'(\[{)\]}]|\\\n|\n""")
_CLOSED = {
    '"': re.compile(r'[^"\\\n]*(?:\\.[^"\\\n]*)*"?', re.DOTALL),
    "'": re.compile(r"[^'\\\n]*(?:\\.[^'\\\n]*)*'?", re.DOTALL),
    '"""': re.compile(r'(?:[^\\"]+|\\.|"(?!""))*(?:""")?', re.DOTALL),
    "'''": re.compile(r"(?:[^\\']+|\\.|'(?!''))*(?:''')?", re.DOTALL),
}
_IN_FORMAT = re.compile(r"""\\.|\{\{|\}\}|[{}]|\"{3}|'{3}|["'\n]""", re.DOTALL)
_DEFINITION_AT_END = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+\w+.*:\s*\Z", re.MULTILINE)
_QUOTE_OR_ROW_END = {"'": re.compile(r"['\n]"), '"': re.compile(r'["\n]')}
_MOST_NESTED_STRINGS = 20
_PREFIX = re.compile(r"(?<![\w])[A-Za-z]{1,2}\Z")

# Hard keywords that no bracket can hold: where a line starts with one, an open bracket above was never closed.
_STATEMENT = re.compile(
    r"[ \t\f]*(?:(?:assert|break|class|continue|def|del|elif|except|finally|global|import|nonlocal|pass|raise|return"
    r"|try|while|with)\b(?![ \t]*=[^=])|async[ \t]+(?:def|with)\b|from[ \t]+[\w.]+[ \t]+import\b)"
)


class Comment(NamedTuple):
    """A comment; `column` counts from 1, as `row` does; `text` starts with `#`."""

    row: int
    column: int
    text: str


class LongString(NamedTuple):
    """A string of more than one row."""

    first_row: int
    last_row: int
    holds_code: bool
    """Whether it looks as if its quotes had the wrong neighbours: a definition right before its end, a word after."""


class LogicalLines(NamedTuple):
    """The rows that Python reads as one line, for the whole of a module."""

    spans: tuple[tuple[int, int], ...]
    """First and last row of each logical line that is neither blank nor only a comment, in order."""
    comments: tuple[Comment, ...]
    strings: tuple[LongString, ...] = ()
    ends_in_string: bool = False
    """Whether the last string is never closed."""

    def span_of(self, row: int) -> tuple[int, int]:
        """First and last row of the logical line that holds `row`; a row that holds none stands for itself."""
        index = bisect_right(self.spans, (row, 1 << 60)) - 1
        if index >= 0 and self.spans[index][1] >= row:
            return self.spans[index]
        return row, row

    def comment_on(self, row: int) -> Comment | None:
        """The comment that ends a row."""
        index = bisect_left(self.comments, row, key=lambda comment: comment.row)
        return self.comments[index] if index < len(self.comments) and self.comments[index].row == row else None


def scan(text: str, first_row: int = 1) -> LogicalLines:
    r"""The logical lines of `text`, whose line ends are all `\n` and whose first row is `first_row`."""
    spans: list[tuple[int, int]] = []
    comments: list[Comment] = []
    strings: list[LongString] = []
    start, row = 0, first_row
    ends_in_string = False
    while start < len(text):
        marks: list[tuple[int, int]] = []
        end = end_of_logical_line(text, start, marks)
        rows = text.count("\n", start, end)
        last = row + rows - 1 if text.endswith("\n", start, end) else row + rows
        first_comment = end
        counted, mark_row = start, row
        for mark, mark_end in marks:
            mark_row += text.count("\n", counted, mark)
            counted = mark
            if text[mark] == "#":
                first_comment = min(first_comment, mark)
                comments.append(Comment(mark_row, mark - text.rfind("\n", 0, mark), text[mark:mark_end]))
            elif more := text.count("\n", mark, mark_end):
                strings.append(LongString(mark_row, mark_row + more, _holds_code(text, mark, mark_end)))
                ends_in_string = mark_end == len(text) and not text.endswith(text[mark] * 3)
        if text[start:first_comment].strip():
            spans.append((row, last))
        start, row = end, row + rows
    return LogicalLines(tuple(spans), tuple(comments), tuple(strings), ends_in_string)


def end_of_logical_line(text: str, start: int, marks: list[tuple[int, int]]) -> int:
    """The offset after the logical line that starts at `start`; `marks` gets where its comments and strings lie.

    A bracket that is never closed ends before the first line that only a new statement can start.
    """
    position, depth = start, 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        match token.group()[0]:
            case "\n":
                if depth == 0 or _STATEMENT.match(text, position):
                    return position
            case "#":
                marks.append(token.span())
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}":
                depth = max(0, depth - 1)
            case "\\":
                pass
            case _:
                position = _end_of_string(text, token.start(), token.group())
                marks.append((token.start(), position))
    return len(text)


def _holds_code(text: str, start: int, end: int) -> bool:
    return text[end : end + 1].isalnum() or bool(_DEFINITION_AT_END.search(text[start : end - 3]))


def _end_of_string(text: str, start: int, quote: str, nesting: int = 0) -> int:
    """The offset after the string whose quote is at `start`; an unterminated one ends with its row, or the text."""
    prefix = _PREFIX.search(text, max(0, start - 3), start)
    if prefix and set(prefix.group().lower()) & {"f", "t"} and nesting < _MOST_NESTED_STRINGS:
        return _end_of_format_string(text, start, quote, nesting + 1)
    closed = _CLOSED[quote].match(text, start + len(quote))
    return closed.end() if closed else len(text)


def _end_of_format_string(text: str, start: int, quote: str, nesting: int) -> int:
    """As `_end_of_string`, where braces may hold strings with the same quotes (Python 3.12)."""
    position, depth = start + len(quote), 0
    while token := _IN_FORMAT.search(text, position):
        position = token.end()
        found = token.group()
        if found == "{" or (found == "{{" and depth):
            depth += len(found)
        elif found in {"}", "}}"} and depth:
            depth -= 1
            position = token.start() + 1
        elif found == "\n" and len(quote) == 1:
            return token.start()
        elif found[0] in "\"'":
            if depth == 0:
                if text.startswith(quote, token.start()):
                    return token.start() + len(quote)
                position = token.start() + 1
            elif len(quote) == 1 and found == quote and not _opens_again(text, position, quote):
                return position
            else:
                position = _end_of_string(text, token.start(), found, nesting)
    return len(text)


def _opens_again(text: str, position: int, quote: str) -> bool:
    """Whether the rest of the row has another `quote`, so that the one before `position` may open a nested string."""
    found = _QUOTE_OR_ROW_END[quote].search(text, position)
    return found is not None and found.group() == quote
