"""In which order the functions, classes and methods of libraries take their parameters.

`signature_tables/` is made by `scripts/build_signatures.py` from the libraries' wheels: one compressed table for each,
read when a name of that library is first asked for. After its first line, the distribution and its releases, one name a
line:

    NAME TAB =PARAMETERS                        a function
    NAME TAB (BASES) TAB METHOD=PARAMETERS...   a class, with the methods that its bases don't have just so
    NAME TAB =NAME                              another name of a class or function, which begins with the library's
    ... TAB >4.46.3,<5.0.0                      behind a name that not all of the releases have: between which it is there

PARAMETERS are `a,b,*,c,**`, without the receiver: `*` begins those that go by keyword only, `*name` takes any number of
positional ones, `**` any keyword. Alternatives, overloads and releases that differ, stand between bars.
"""

from __future__ import annotations

import zlib
from functools import lru_cache
from pathlib import Path

from llm_lsp.named_tuples import NamedTuple

__all__ = ["Signature", "releases_with", "signature_of"]

_TABLES = Path(__file__).with_name("signature_tables")
_FLAT = frozenset({"transformers", "diffusers"})
"""Packages that export at their top level what programs use; only that is in their tables."""
_MODULES_OF_TORCH = "torch.nn.modules."
_DEEPEST = 12
_CALL = "()"
_KINDS = (
    ("Tokenizer", "transformers.PreTrainedTokenizerBase"),
    ("AutoModel", "transformers.PreTrainedModel"),
    ("AutoProcessor", "transformers.ProcessorMixin"),
)
"""By the beginnings of the names of auto classes, behind `Auto`, what all that they make has in common."""


class Signature(NamedTuple):
    """What a callable takes in the releases that we know, and in each of its overloads."""

    alternatives: tuple[tuple[str, ...], ...]

    def position(self, parameter: str) -> int | None:
        """Where a parameter stands among the positional ones; None unless it stands there in every alternative."""
        found: set[int] = set()
        for parameters in self.alternatives:
            positional = _positional(parameters)
            if parameter in positional:
                found.add(positional.index(parameter))
        if len(found) != 1:
            return None
        (position,) = found
        return None if any(self._is_another(each, parameter, position) for each in self.alternatives) else position

    def _is_another(self, parameters: tuple[str, ...], parameter: str, position: int) -> bool:
        """Whether what stands at the position goes to something else in this alternative."""
        positional = _positional(parameters)
        if position < len(positional):
            return positional[position] != parameter
        return any(len(each) > 1 and each[0] == "*" and each[1] != "*" for each in parameters)

    @property
    def swallows(self) -> bool:
        """Whether some alternative takes any keyword."""
        return any("**" in parameters for parameters in self.alternatives)

    def takes(self, keyword: str) -> bool:
        """Whether some alternative has a parameter of this name, or takes any keyword."""
        return self.swallows or any(keyword in parameters for parameters in self.alternatives)


@lru_cache(maxsize=512)
def signature_of(name: str) -> Signature | None:
    """The signature of a function, of a method by its class (`torch.nn.Module.train`), or of what makes an instance.

    None for what is not in the tables. `NAME.()` is the call of an instance.
    """
    found = _line(name)
    if found is not None:
        return _parsed(found[1]) if len(found) == 2 and found[1].startswith("=") else _method(name, "__init__")
    owner, _, method = name.rpartition(".")
    if method != _CALL:
        return _method(owner, method) if owner else None
    called = _method(owner, "__call__")
    # A module's own `__call__` hands over to its `forward`.
    return _method(owner, "forward") if called is None or called.alternatives == (("*args", "**"),) else called


def releases_with(name: str) -> str | None:
    """A specifier of the releases that may have a name, where we know one that has it and one that hasn't."""
    root, _, rest = name.partition(".")
    lines = _table(root)
    known = _flattened(root, rest) if root in _FLAT else name
    start = lines.find(f"\n{known}\t") if rest and "\n" not in name else -1
    if start < 0:
        return None
    last = lines[start + 1 : lines.index("\n", start + 1)].rpartition("\t")[2]
    return last if last.startswith(("<", ">")) else None


def _method(cls: str, name: str, depth: int = 0) -> Signature | None:
    columns = _line(cls)
    if columns is None or not columns[1].startswith("(") or depth > _DEEPEST:
        return _of_all_that_it_makes(cls, name) if depth == 0 else None
    for column in columns[2:]:
        method, _, parameters = column.partition("=")
        if method == name:
            return _parsed("=" + parameters)
    for base in columns[1][1:-1].split():
        found = _method(base, name, depth + 1)
        if found is not None:
            return found
    return _of_all_that_it_makes(cls, name) if depth == 0 else None


def _of_all_that_it_makes(cls: str, name: str) -> Signature | None:
    """An auto class stands for what it makes, whose methods are those of the base class."""
    last = cls.rpartition(".")[2]
    for ending, base in _KINDS:
        if last == f"Auto{ending}" or (ending.startswith("Auto") and last.startswith(ending)):
            return _method(base, name, 1) if name not in ("__init__", "forward") else None
    return None


def _line(name: str) -> list[str] | None:
    """The columns of a name's line, another name of the same thing followed."""
    root, dot, rest = name.partition(".")
    if not dot or "\t" in name or "\n" in name:
        return None
    if root in _FLAT:
        name = _flattened(root, rest)
    elif name.startswith(_MODULES_OF_TORCH):
        name = f"torch.nn.{name.rpartition('.')[2]}"
    for _ in range(2):
        lines = _table(root)
        start = lines.find(f"\n{name}\t")
        if start < 0:
            return None
        columns = lines[start + 1 : lines.index("\n", start + 1)].split("\t")
        if columns[-1].startswith(("<", ">")):
            columns.pop()
        target = columns[1].removeprefix("=")
        if not columns[1].startswith("=") or not target.startswith(f"{root}."):
            return columns
        name = target
    return None


def _flattened(root: str, rest: str) -> str:
    """Without the modules between the package and the name: `transformers.trainer_utils.set_seed`."""
    parts = rest.split(".")
    first = next((index for index, part in enumerate(parts) if part[:1].isupper()), len(parts) - 1)
    whole = f"{root}.{rest}"
    return whole if f"\n{whole}\t" in _table(root) else ".".join([root, *parts[first:]])


@lru_cache(maxsize=16)
def _table(root: str) -> str:
    path = _TABLES / f"{root}.z"
    return zlib.decompress(path.read_bytes()).decode() if root.isidentifier() and path.is_file() else "\n"


def _parsed(text: str) -> Signature:
    return Signature(tuple(tuple(filter(None, each.split(","))) for each in text[1:].split("|")))


def _positional(parameters: tuple[str, ...]) -> tuple[str, ...]:
    end = next((index for index, each in enumerate(parameters) if each.startswith("*")), len(parameters))
    return parameters[:end]
