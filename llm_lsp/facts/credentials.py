"""Secrets that stand in the text of a file: tokens of hubs and services, by the form that their issuers give them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from llm_lsp.diagnostic import Position, Range
from llm_lsp.facts.place import Place
from llm_lsp.facts.truth import UNKNOWN, YES, Truth, answer
from llm_lsp.knowledge import credentials

if TYPE_CHECKING:
    from llm_lsp.facts import Facts

__all__ = ["WrittenSecret", "written_secrets"]

_LEAST_KINDS_OF_CHARACTERS = 8


class WrittenSecret:
    """A piece of text that has the form of a secret."""

    __slots__ = ("_facts", "_found", "_secret", "issuer", "variable")

    def __init__(self, facts: Facts, found: re.Match[str], issuer: str, variable: str) -> None:
        self._facts = facts
        self._found = found
        self._secret = found["secret"]
        self.issuer = issuer
        """Whose secret it is, as a message says it."""
        self.variable = variable
        """The variable of the environment that the issuer's own programs read; empty where there is none."""

    @property
    def is_real(self) -> Truth:
        """Whether it may open something: it is no placeholder, and no comment beside it says that it opens nothing."""
        is_placeholder = (
            len(set(self._secret)) < _LEAST_KINDS_OF_CHARACTERS
            or credentials.PLACEHOLDER.search(self._secret) is not None
        )
        text, start = self._facts.source.text, self._found.start("secret")
        line = text[text.rfind("\n", 0, text.rfind("\n", 0, start)) + 1 : text.find("\n", start)]
        is_harmless = any(credentials.HARMLESS.search(part.partition("#")[2]) for part in line.split("\n"))
        return answer(UNKNOWN if is_placeholder or is_harmless else YES)

    @property
    def place(self) -> Place:
        """The string that holds it; the secret itself where no string does."""
        literal = self._literal
        if literal is not None:
            return self._facts.place(literal)
        source, start = self._facts.source, self._found.start("secret")
        begin = Position(self._row, start - source.text.rfind("\n", 0, start))
        return Place(source.path, Range(begin, begin._replace(column=begin.column + len(self._secret))), "")

    @property
    def replaceable(self) -> Place | None:
        """The string, where it is nothing but the secret and the program does not set a variable of the environment to it."""
        literal = self._literal
        start = self._found.start("secret")
        text = self._facts.source.text
        before = text[text.rfind("\n", 0, start) + 1 : start]
        is_whole = literal is not None and literal.value == self._secret and "environ" not in before
        return self._facts.place(literal) if literal is not None and is_whole else None

    @property
    def _row(self) -> int:
        return self._facts.source.text.count("\n", 0, self._found.start("secret")) + 1

    @property
    def _literal(self) -> ast.Constant | None:
        row = self._row
        for node in ast.walk(self._facts.source.tree):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and self._secret in node.value
            if is_text and isinstance(node, ast.Constant) and node.lineno <= row <= (node.end_lineno or 0):
                return node
        return None


def written_secrets(facts: Facts) -> Iterator[WrittenSecret]:
    """The secrets in the text of this module, comments included."""
    text, snippets = facts.source.text, facts.source.snippets
    taken: set[int] = set()
    for form, issuer, variable, words in credentials.FORMS:
        for begin, end in _lines_with(text, [word for word in words if word in snippets]):
            for found in re.compile(form).finditer(text, begin, end):
                if found.start("secret") not in taken:
                    taken.add(found.start("secret"))
                    yield WrittenSecret(facts, found, issuer, variable)


def _lines_with(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Where the lines begin and end that hold one of the words: a form looked for in all of a text takes ten times as long."""
    lines: dict[int, int] = {}
    for word in words:
        at = text.find(word)
        while at >= 0:
            end = _end_of_line(text, at)
            # With the next line: a name and what it is given may stand in two.
            lines[text.rfind("\n", 0, at) + 1] = _end_of_line(text, end + 1)
            at = text.find(word, end)
    return sorted(lines.items())


def _end_of_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end
