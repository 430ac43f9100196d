"""What the text of a file tells of its imports, its own names and whether it is started; found without parsing."""

from __future__ import annotations

import re
from functools import cached_property

__all__ = ["Outline", "imported_words"]

_LONG = 10_000
"""Characters of a line that is no line of a program."""
_STATEMENT = re.compile(r'\n[ \t]*((?:from[ \t.][^#"(\n]*?\bimport\b|import[ \t])[^#"(\n]*(?:\([^)]*\))?)')
_IN_A_NOTEBOOK = re.compile(
    r'(?:^|")[ \t]*((?:from[ \t.][^#"(\n]*?\bimport\b|import[ \t])[^#"(\n]*(?:\([^)]*\))?)', re.MULTILINE
)
"""A quote begins a line of a notebook."""
_IMPORT = re.compile(r"\bimport\b")
_WORD = re.compile(r"\w+")
_DEFINED = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=[^=]", re.MULTILINE)
_NO_PROGRAM = r"(?!(?:assert|class|def|del|elif|else|except|finally|from|global|if|import|raise|return|try)\b)(?!_*log|warnings|sys\.|os\.)"
_RUNS = re.compile(
    rf"^{_NO_PROGRAM}(?:(?:for|while|with|async)\b|[a-z_][\w.]*\()"
    r"|^[a-z]\w*(?:,[ \t]*\w+)*[ \t]*=[ \t]*(?!\w*\.?get_?[lL]ogger|TypeVar|\w*namedtuple|re\.)[\w.]+\(",
    re.MULTILINE,
)
"""A statement at the top of a module that does more than define: a loop, a block, a call."""


class Outline:
    """A superset of what can be seen by parsing; each part is looked for when it is asked for.

    Args:
        text: of a module, or of a notebook, as it is written or as its cells are.
        is_notebook: whether it is a notebook, which is always started by itself.
    """

    def __init__(self, text: str, *, is_notebook: bool = False) -> None:
        self._text = text
        self._is_notebook = is_notebook

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outline) and self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    @cached_property
    def _parts(self) -> tuple[object, ...]:
        return self.imports, self.defined, self.is_guarded, self.runs

    @cached_property
    def imports(self) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        """For each import statement the words of the module that it imports from, and of what it imports."""
        parts = [_IMPORT.split(statement, 1) for statement in _statements(self._text)]
        return tuple((frozenset(_WORD.findall(origin)), frozenset(_WORD.findall(given))) for origin, given in parts)

    @cached_property
    def defined(self) -> frozenset[str]:
        """The names that the module binds by an import, or its top by a definition or an assignment."""
        names = {first or second for first, second in _DEFINED.findall(self._text)}
        return frozenset(names.union(*(given for _, given in self.imports)))

    @property
    def is_guarded(self) -> bool:
        """Whether it has a part that runs only where it is started."""
        return self._is_notebook or "__main__" in self._text

    @cached_property
    def runs(self) -> bool:
        """Whether its top does more than define things."""
        return _RUNS.search(self._text) is not None

    def leads_to(self, module: str, names: frozenset[str]) -> bool:
        """Whether an import may give one of the names of a module that is called `module`, or the module itself."""
        return any(
            module in given or (module in origin and not names.isdisjoint(given)) for origin, given in self.imports
        )


def imported_words(text: str) -> frozenset[str]:
    """The words of import statements; a superset of the modules that are imported."""
    return frozenset(_WORD.findall(" ".join(_statements(text))))


def _statements(text: str) -> list[str]:
    """The import statements, but for those that import from a library that is known as data."""
    from llm_lsp.knowledge.library import LIBRARY_ROOTS

    return [
        statement
        for statement in _every_statement(text)
        if not (
            statement.startswith("from") and statement[4:].strip().partition(" ")[0].partition(".")[0] in LIBRARY_ROOTS
        )
    ]


def _every_statement(text: str) -> list[str]:
    is_notebook = text.lstrip()[:1] == "{"
    if is_notebook and len(text) > _LONG:
        # Pictures in the outputs of a notebook: each is one line, as Jupyter writes them.
        lines = text.split("\n")
        text = "\n".join(line for line in lines if len(line) < _LONG) if len(lines) > 1 else text
    if is_notebook:
        return _IN_A_NOTEBOOK.findall(text)
    # The pattern is tried only on lines that hold the word: twice as quick as on each.
    text = f"\n{text}"
    found: list[str] = []
    end, at = 0, text.find("import")
    while at >= 0:
        begin = text.rfind("\n", end, at)
        statement = _STATEMENT.match(text, begin) if begin >= 0 else None
        if statement is not None:
            found.append(statement[1])
            end = statement.end()
        at = text.find("import", max(end, at + 1))
    return found
