"""Which auto classes of transformers take which types of models, and by which attention these compute.

`auto_classes.tsv` is made by `scripts/build_auto_classes.py` from transformers' own tables, of 5.23.0 and of 4.46.3, and
read when somebody first asks. After its first line one model type a line:

    TYPE TAB BASE TAB sdpa TAB heads in 5.23 TAB heads in 4.46

BASE is what the type's classes begin with; sdpa is `y` where the models run scaled dot product attention unless told
otherwise, `n` where they never do, else empty; heads are `NAME;NAME=CLASS`, NAME being what follows `AutoModelFor`,
CLASS the class that it gives where that isn't BASE, `For` and NAME; `-`: the release doesn't know the type; `=`: as before.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from llm_lsp.named_tuples import NamedTuple

__all__ = ["AutoClasses", "auto_classes", "type_of_class"]

_AUTO = "AutoModelFor"
_ENDINGS = frozenset({"Model", "LMHeadModel"})

_Heads = dict[str, tuple[str, ...]]


class AutoClasses(NamedTuple):
    """What transformers can make of one type of models."""

    base: str
    runs_sdpa: bool | None
    """Whether its models run scaled dot product attention unless told otherwise; None where that isn't known."""
    releases: tuple[_Heads | None, ...]
    """Head to the classes that it gives, by release, the newest first; None where the release doesn't know the type."""

    def takes(self, auto_class: str) -> bool | None:
        """Whether the auto class has a model for this type in some release that has both; None where none does."""
        if not auto_class.startswith(_AUTO):
            return None
        head = auto_class.removeprefix(_AUTO)
        if any(head in heads for heads in self.releases if heads is not None):
            return True
        both = zip(self.releases, heads_by_release(), strict=True)
        return False if any(heads is not None and head in all_heads for heads, all_heads in both) else None

    def architectures(self, auto_class: str) -> frozenset[str]:
        """The classes that the auto class may give for this type."""
        head = auto_class.removeprefix(_AUTO)
        return frozenset(name for heads in self.releases if heads is not None for name in heads.get(head, ()))

    def auto_classes_of(self, architecture: str) -> tuple[str, ...]:
        """The auto classes that give this class in the newest release that knows the type."""
        heads = next((heads for heads in self.releases if heads is not None), _Heads())
        return tuple(_AUTO + head for head, names in heads.items() if architecture in names)


@lru_cache(maxsize=1)
def table() -> str:
    text = Path(__file__).with_name("auto_classes.tsv").read_text(encoding="utf-8")
    return text[text.index("\n") :]


@lru_cache(maxsize=1)
def heads_by_release() -> tuple[frozenset[str], ...]:
    """The heads that there are, by release."""
    found: tuple[set[str], set[str]] = set(), set()
    for line in table().splitlines()[1:]:
        for heads, known in zip(_releases(line.split("\t")), found, strict=True):
            known.update(heads or ())
    return tuple(map(frozenset, found))


@lru_cache(maxsize=64)
def auto_classes(model_type: str) -> AutoClasses | None:
    """What is known of a type of models, by its name in `config.json`; None for one that transformers doesn't have."""
    lines = table()
    start = -1 if "\t" in model_type or "\n" in model_type or not model_type else lines.find(f"\n{model_type}\t")
    if start < 0:
        return None
    columns = lines[start + 1 : lines.index("\n", start + 1)].split("\t")
    return AutoClasses(columns[1], {"y": True, "n": False}.get(columns[2]), _releases(columns))


@lru_cache(maxsize=64)
def type_of_class(name: str) -> str | None:
    """The type of the models that a class of transformers is for: `bert` of `BertForMaskedLM`; None where that isn't plain."""
    found: dict[str, str] = {}
    for line in table().splitlines()[1:]:
        model_type, base, _ = line.split("\t", 2)
        rest = name[len(base) :]
        if base and name.startswith(base) and (rest in _ENDINGS or rest.startswith("For")):
            found[model_type] = base
    # GPT-SW3's models are GPT-2's classes.
    own = [model_type for model_type, base in found.items() if len(found) == 1 or model_type == base.lower()]
    return own[0] if own else None


def _releases(columns: list[str]) -> tuple[_Heads | None, ...]:
    base, newest, older = columns[1], columns[3], columns[4]
    return _heads(newest, base), _heads(newest if older == "=" else older, base)


def _heads(text: str, base: str) -> _Heads | None:
    if text == "-":
        return None
    found: _Heads = {}
    for entry in filter(None, text.split(";")):
        head, _, names = entry.partition("=")
        found[head] = tuple(names.split("|")) if names else (f"{base}For{head}",)
    return found
