"""A notebook cell as Python: what IPython would take out of it is masked, rows and columns stay.

The syntax is that of IPython 8's `inputtransformer2`. What a magic returns or binds is unknown, so it becomes a call
of `UNKNOWN`; one that can't touch the program becomes `pass`.
"""

from __future__ import annotations

import re

from llm_lsp.logical_lines import end_of_logical_line
from llm_lsp.named_tuples import NamedTuple
from llm_lsp.parsing import UNKNOWN

__all__ = ["PythonCell", "without_magics"]

_MAY_HAVE_MAGICS = re.compile(r"^[ \t]*(?:[%!?,;/]|pip3?[ \t])|=[ \t]*[!%]|\?[ \t]*(?:#.*)?$", re.MULTILINE)
_LINE = re.compile(r"(?P<indent>[ \t]*)(?P<sign>%|!!?|\?\??|[,;/](?=\w)|(?=pip3?[ \t]+\w+))(?P<rest>.*)", re.DOTALL)
_TARGETS = re.compile(r"[ \t]*[A-Za-z_(*\[][\w.,* \t()\[\]'\"]*")
_HELP = re.compile(r"(?P<indent>[ \t]*)%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?\d+\])*\?\??[ \t]*(?:#.*)?\Z")
_TIMED = re.compile(
    r"(?P<magic>time(?:it)?)(?P<options>(?:[ \t]+-(?:[nrp][ \t]*\d+|[qco])+)*[ \t]+)(?P<code>[^\s%!].*)"
)
_COMPOUND = re.compile(r"(?:async|class|def|for|if|match|try|while|with)\b|@")

_PYTHON_CELLS = {"capture", "prun", "time", "timeit"}
_SHELL_CELLS = {"!", "bash", "cmd", "powershell", "sh", "script", "system", "sx"}
_CELLS_WITHOUT_EFFECT = _SHELL_CELLS | {
    "file", "html", "javascript", "js", "latex", "markdown", "perl", "ruby", "svg", "writefile",
}  # fmt: skip
_LINES_WITHOUT_EFFECT = frozenset(
    {
        "alias",
        "aimport",
        "autoreload",
        "autosave",
        "bash",
        "cd",
        "colors",
        "conda",
        "config",
        "debug",
        "env",
        "history",
        "html",
        "ls",
        "load_ext",
        "logstart",
        "logstop",
        "mamba",
        "matplotlib",
        "micromamba",
        "mkdir",
        "notebook",
        "pdb",
        "pinfo",
        "pip",
        "pprint",
        "precision",
        "psearch",
        "pwd",
        "reload_ext",
        "rm",
        "set_env",
        "sh",
        "sx",
        "system",
        "tensorboard",
        "time",
        "timeit",
        "unload_ext",
        "uv",
        "watermark",
        "who",
        "who_ls",
        "whos",
        "xmode",
    }
)


class PythonCell(NamedTuple):
    """A cell's text as Python, row by row as it was written."""

    text: str
    unknown: tuple[tuple[int, int], ...] = ()
    """First and last rows, from 1 in the cell, of what may have any effect."""
    magic_rows: tuple[int, ...] = ()
    """Rows of the cell, from 1, that are not Python as they were written."""
    installs: tuple[str, ...] = ()
    """The requirements that the cell's pip commands name, as written."""


def without_magics(text: str) -> PythonCell:
    r"""The Python of a cell whose line ends are all `\n`."""
    text = _without_common_indent(text)
    if not _MAY_HAVE_MAGICS.search(text):
        return PythonCell(text)
    head = len(text) - len(text.lstrip())
    if text.startswith("%%", head):
        return _cell_magic(text, head)
    return _line_magics(text)


def _without_common_indent(text: str) -> str:
    """IPython takes the first row's indentation off all rows; a form feed does that and keeps the columns."""
    indent = re.match(r"[ \t]*", text)
    if not indent or not indent.group() or not text.strip():
        return text
    width = len(indent.group())
    return re.sub(f"^{indent.group()}", " " * (width - 1) + "\f", text, flags=re.MULTILINE)


def _cell_magic(text: str, head: int) -> PythonCell:
    end = text.find("\n", head)
    line, body = (text[head:], "") if end < 0 else (text[head:end], text[end:])
    name = re.match(r"%%[ \t]*([\w!]*)", line)
    magic = name.group(1) if name else ""
    row = text.count("\n", 0, head) + 1
    if magic in _PYTHON_CELLS:
        rest = _line_magics(text[:head] + body)
        return PythonCell(rest.text, rest.unknown, (row, *rest.magic_rows), rest.installs)
    rows = text.count("\n") + 1
    installs = (
        tuple(name for command in body.split("\n") for name in _installs(command)) if magic in _SHELL_CELLS else ()
    )
    unknown = () if magic in _CELLS_WITHOUT_EFFECT else ((1, rows),)
    return PythonCell("\n" * (rows - 1), unknown, tuple(range(1, rows + 1)), installs)


def _line_magics(text: str) -> PythonCell:
    pieces: list[str] = []
    unknown: list[tuple[int, int]] = []
    magic_rows: list[int] = []
    installs: list[str] = []
    position, row = 0, 1
    while position < len(text):
        end = _end_of_magic(text, position)
        written = text[position:end]
        python = _python_of(written)
        if python is None:
            end = end_of_logical_line(text, position, [])
            pieces.append(text[position:end])
        else:
            rows = written.count("\n")
            magic_rows += range(row, row + rows + 1)
            installs += _installs(written)
            if f"{UNKNOWN}()" in python:
                unknown.append((row, row + rows))
            pieces.append(python + "\n" * (rows - python.count("\n")))
        row += text.count("\n", position, end)
        position = end
        if python is not None and text.startswith("\n", position):
            pieces.append("\n")
            position, row = position + 1, row + 1
    return PythonCell("".join(pieces), tuple(unknown), tuple(magic_rows), tuple(installs))


def _end_of_magic(text: str, position: int) -> int:
    """The end of the row at `position`, and of those that it continues with a backslash."""
    while True:
        end = text.find("\n", position)
        if end < 0:
            return len(text)
        if not text.endswith("\\", position, end):
            return end
        position = end + 1


def _python_of(line: str) -> str | None:
    """What stands for a line at the start of a statement; None where it is Python already."""
    if found := _HELP.match(line):
        return f"{found['indent']}pass"
    if found := _LINE.match(line):
        indent, sign, rest = found["indent"], found["sign"], found["rest"]
        if sign == "%" and (timed := _TIMED.match(rest)) and not _COMPOUND.match(timed["code"]):
            width = len(line) - len(timed["code"]) - len(indent)
            return f"{indent}{'if 1:':{width}}{timed['code']}"
        if sign == "%" and rest.split(None, 1)[:1] and rest.split(None, 1)[0] not in _LINES_WITHOUT_EFFECT:
            return f"{indent}{UNKNOWN}()"
        if sign in {",", ";", "/"} or (sign == "%" and _TIMED.match(rest)):
            return f"{indent}{UNKNOWN}()"
        return f"{indent}pass"
    targets, _, value = line.partition("=")
    value = value.lstrip(" \t")
    if value[:1] in {"!", "%"} and value[1:2] != "=" and _TARGETS.fullmatch(targets):
        # What a shell command prints is unknown too, but it can't touch the program as a call could.
        return f"{targets.rstrip()} = {UNKNOWN}{'' if value[0] == '!' else '()'}"
    return None


_PIP = re.compile(r"(?:.*[/\s}])?pip3?(?:\.\d+)?[ \t]+install[ \t]|pip3?[ \t]+install[ \t]")
_WITH_VALUE = frozenset(
    {
        "-r",
        "--requirement",
        "-c",
        "--constraint",
        "-i",
        "--index-url",
        "--extra-index-url",
        "-f",
        "--find-links",
        "-t",
        "--target",
        "-e",
        "--editable",
        "--prefix",
        "--root",
        "--timeout",
        "--retries",
        "--proxy",
        "--trusted-host",
        "--platform",
        "--python-version",
        "--progress-bar",
        "--upgrade-strategy",
        "--no-binary",
        "--only-binary",
        "--cache-dir",
        "--index-strategy",
        "--python",
        "-p",
    }
)
_REQUIREMENT = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,. -]*\])?[ ]*(?:(?:[=!~]=|[<>]=?|===)[\w.*+!, <>=~-]+)?")


def _installs(command: str) -> list[str]:
    """The requirements that a shell line installs; the shell's own redirections are no version."""
    if "install" not in command or not _PIP.search(command):
        return []
    import shlex

    words = shlex.shlex(command.lstrip(" \t!%"), posix=True, punctuation_chars=";&|<>()")
    words.whitespace_split = True
    words.commenters = "#"
    found: list[str] = []
    installing = is_value = False
    before = ""
    try:
        for word in words:
            if set(word) <= set(";&|"):
                installing = False
            elif is_value or (before and set(before) <= set("<>&")):
                is_value = False
            elif word == "install":
                installing = before.startswith("pip") or "/pip" in before
            elif word in _WITH_VALUE:
                is_value = True
            elif installing and _REQUIREMENT.fullmatch(word):
                found.append(word)
            before = word
    except ValueError:  # an open quotation: what came before it counts
        pass
    return found
