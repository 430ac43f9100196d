"""The contract of a rule: one file, one class, and the examples that prove it.

A rule sees this module and nothing else of ours. It asks `Facts` what the program does and yields reports; it
never resolves an import, tracks a scope, walks a tree or reads a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from llm_lsp.diagnostic import Applicability, Range, Severity
from llm_lsp.facts import (
    NO,
    UNKNOWN,
    YES,
    Call,
    Choice,
    Extent,
    Facts,
    Place,
    Truth,
)
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:
    from llm_lsp.facts.accelerators import Bypass
    from llm_lsp.facts.coroutines import Blocking
    from llm_lsp.facts.generation import Generation, Setting
    from llm_lsp.facts.heads import ModelLoad
    from llm_lsp.facts.ignored_labels import DecodedIds
    from llm_lsp.facts.kept_logits import KeptLogits
    from llm_lsp.facts.late_changes import LateChange
    from llm_lsp.facts.microbatches import MicroBatches
    from llm_lsp.facts.modes import Inference
    from llm_lsp.facts.overrides import Override
    from llm_lsp.facts.randomness import Generator
    from llm_lsp.facts.rounds import KeptMode, RepeatedLoader
    from llm_lsp.facts.saves import Save

__all__ = [
    "NO",
    "UNKNOWN",
    "YES",
    "Applicability",
    "Bad",
    "Blocking",
    "Bypass",
    "Call",
    "Change",
    "Choice",
    "DecodedIds",
    "Decorate",
    "EnsureImport",
    "Extent",
    "Facts",
    "Generation",
    "Generator",
    "Good",
    "Inference",
    "InsertAfter",
    "InsertBefore",
    "KeptLogits",
    "KeptMode",
    "LateChange",
    "MicroBatches",
    "ModelLoad",
    "Override",
    "Place",
    "RepeatedLoader",
    "Replace",
    "Report",
    "Rule",
    "Save",
    "SetArgument",
    "Setting",
    "Severity",
    "Truth",
    "Wrap",
    "WrapFollowing",
]


_ANSWERS = {
    "Blocking": "coroutines",
    "Bypass": "accelerators",
    "DecodedIds": "ignored_labels",
    "Generation": "generation",
    "Generator": "randomness",
    "Inference": "modes",
    "KeptLogits": "kept_logits",
    "KeptMode": "rounds",
    "LateChange": "late_changes",
    "MicroBatches": "microbatches",
    "ModelLoad": "heads",
    "Override": "overrides",
    "RepeatedLoader": "rounds",
    "Save": "saves",
    "Setting": "generation",
}
"""Types of answers that only the rules name that ask for them, with their modules in `llm_lsp.facts`."""


def __getattr__(name: str) -> object:
    if name not in _ANSWERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"llm_lsp.facts.{_ANSWERS[name]}"), name)


# ---------------------------------------------------------------- changes: what a fix does, declared, not typed

# Named tuples here and in the layers below: a frozen data class costs eight times as much to define, on every start.
# Changes are told apart by their classes, never compared.


class Replace(NamedTuple):
    """The text at `range` becomes `text`; an empty text deletes."""

    range: Range
    text: str


class InsertBefore(NamedTuple):
    """A statement of its own, before the statement that holds `range`, with that statement's indentation."""

    range: Range
    statement: str


class InsertAfter(NamedTuple):
    """A statement of its own, after the statement that holds `range`, with that statement's indentation."""

    range: Range
    statement: str


class SetArgument(NamedTuple):
    """`name=text` in the call at `range`: replaces the keyword's value, or adds the keyword as the last one."""

    range: Range
    name: str
    text: str


class Wrap(NamedTuple):
    """The statements from the one that holds `first` to the one that holds `last` go under `header` (`with ...:`).

    Both must lie in the same block; a name that is first bound inside stays visible, since `with` opens no scope.
    """

    first: Range
    last: Range
    header: str


class WrapFollowing(NamedTuple):
    """As `Wrap`, from the statement that holds `first` to the last one of its block."""

    first: Range
    header: str


class Decorate(NamedTuple):
    """`@decorator` on the function whose definition or body holds `range`, below its other decorators."""

    range: Range
    decorator: str


class EnsureImport(NamedTuple):
    """The module can be named as `import module` (no `name`) or the name as `from module import name` binds it.

    Nothing is inserted where the binding exists at module level; an existing `from module import ...` is
    extended; else the line goes where a person would put it.
    """

    module: str
    name: str | None = None


Change = Replace | InsertBefore | InsertAfter | SetArgument | Wrap | WrapFollowing | Decorate | EnsureImport


class Repair(NamedTuple):
    """A fix as a rule declares it; `llm_lsp.fixes` turns it into edits, or into none where that can't be done well."""

    message: str
    changes: tuple[Change, ...]
    applicability: Applicability


class Report(NamedTuple):
    """What a rule yields."""

    place: Place
    message: str
    severity: Severity
    related: tuple[tuple[Place, str], ...] = ()
    help: str | None = None
    repair: Repair | None = None


# ---------------------------------------------------------------- examples: the proof

_NONE: Mapping[str, Any] = MappingProxyType({})


class Bad(NamedTuple):
    """A program with the fault: each reported line ends in `# <- words of the message`.

    `code` is one file, or a mapping of file names to texts; a name that ends in `.ipynb` maps to a list of code
    cells. `fixed` is `code` after all fixes, safe and unsafe, marks removed; None where there is no fix.
    `severity` names what every report of this example has, where that is not the rule's own.
    """

    code: str | Mapping[str, str | list[str]]
    fixed: str | Mapping[str, str | list[str]] | None = None
    versions: Mapping[str, str] = _NONE
    checkpoints: Mapping[str, Mapping[str, str]] = _NONE
    severity: Severity | None = None


class Good(NamedTuple):
    """An innocent program: every rule, not only the one that shows it, is silent on it."""

    code: str | Mapping[str, str | list[str]]
    versions: Mapping[str, str] = _NONE
    checkpoints: Mapping[str, Mapping[str, str]] = _NONE


# ---------------------------------------------------------------- the rule


class Rule:
    """One bad pattern; the docstring is its explanation, its first line says what is wrong in one sentence.

    The name comes from the file name (`half_on_cpu.py` is `half-on-cpu`), the category from the folder, and whether
    there is a fix from the examples. Instances hold no state.
    """

    code: ClassVar[str]
    severity: ClassVar[Severity]
    default: ClassVar[bool] = True
    """Whether the rule runs unless it is selected by hand."""
    triggers: ClassVar[tuple[str, ...]]
    """Words without one of which in its text a file can't hold the fault; blanks may stand between their parts."""
    supersedes: ClassVar[tuple[str, ...]] = ()
    """Codes of the rules whose reports at the same place are dropped for this one's."""
    bad: ClassVar[list[Bad]]
    good: ClassVar[list[Good]]

    def check(self, facts: Facts) -> Iterator[Report]:
        """Yield the faults of one file."""
        raise NotImplementedError

    def report(
        self,
        place: Place,
        message: str,
        *,
        severity: Severity | None = None,
        related: Iterable[tuple[Place, str]] = (),
        help: str | None = None,
        fix: Iterable[Change] = (),
        fix_message: str = "",
        safe: bool = False,
    ) -> Report:
        """A report of this rule; `severity` may lower the rule's own for this one report, never raise it."""
        severity = severity or self.severity
        if severity.is_at_least(self.severity) and severity is not self.severity:
            raise ValueError(f"{self.code} raises its severity to {severity.value}")
        changes = tuple(fix)
        applicability = Applicability.SAFE if safe else Applicability.UNSAFE
        repair = Repair(fix_message or help or message, changes, applicability) if changes else None
        return Report(place, message, severity, tuple(related), help, repair)
