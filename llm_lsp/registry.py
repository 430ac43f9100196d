"""Which rules there are: the packs that are installed, their rules, and one rule loaded.

A pack is a package named by an entry point of the group `llm_lsp.rules`. Entry points are read from the files that
installers leave on `sys.path`; `importlib.metadata` would cost more than the linting of a small file. A pack with a
module `index` (written by `scripts/index_rules.py`) is known without importing its rules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from llm_lsp.builtin_codes import BUILTIN_CODES, NOT_ANALYSED, SYNTAX_ERROR
from llm_lsp.diagnostic import Severity
from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:  # the contract brings the whole interpreter along, and a file without a trigger needs neither
    from llm_lsp.rule import Rule
    from llm_lsp.settings import Settings
    from llm_lsp.snippets import Snippets

__all__ = [
    "GROUP",
    "BrokenPack",
    "NoRulePack",
    "RegistryError",
    "RuleEntry",
    "enabled",
    "entries",
    "entry_of",
    "explanation",
    "from_row",
    "known",
    "load",
    "scan",
]

GROUP = "llm_lsp.rules"
_FIXES = frozenset({"safe", "unsafe", "none"})
_ALWAYS = frozenset({SYNTAX_ERROR.code, NOT_ANALYSED.code})
_EXACT = 1_000


class RegistryError(Exception):
    """The rules can't be known; the message is for the user."""


class NoRulePack(RegistryError):  # noqa: N818 - the name says what there is not
    """No installed distribution declares a rule pack."""

    def __init__(self) -> None:
        super().__init__(
            "no rule pack is installed, so there is nothing to check with: "
            "install llm-lsp (in a checkout: `pip install -e .`)"
        )


class BrokenPack(RegistryError):  # noqa: N818 - the name says what is broken
    """A rule pack that is installed but can't be read, or two packs that contradict each other."""


# Named tuples here and below: a dataclass costs half a millisecond to define, on every start.
class RuleEntry(NamedTuple):
    """What is known of a rule before its module is imported."""

    code: str
    name: str
    category: str
    severity: Severity
    default: bool
    triggers: tuple[str, ...]
    supersedes: tuple[str, ...]
    fix: str
    """`safe`, `unsafe` (at least one fix that must be read first) or `none`."""
    module: str
    """Empty for the codes that llm-lint reports by itself."""
    class_name: str

    @property
    def is_builtin(self) -> bool:
        """Whether llm-lint reports this by itself, without a rule (`LLM000`, `LLM001`, `LLM002`)."""
        return not self.module

    def is_triggered_by(self, snippets: Snippets) -> bool:
        """Whether the snippets of a text give a reason to run the rule; one without triggers always runs."""
        return not self.triggers or any(trigger in snippets for trigger in self.triggers)


class _Pack(NamedTuple):
    package: str
    declared_in: str


def entries() -> tuple[RuleEntry, ...]:
    """Every code of llm-lint itself and of all installed packs, sorted by code.

    Raises NoRulePack where none is installed, BrokenPack where one can't be read or a code or name is taken twice.
    """
    return _entries_on(tuple(sys.path))


def entry_of(cls: type[Rule]) -> RuleEntry:
    """What a rule's class says of itself; name and category are those of its file and folder."""
    package, _, module = cls.__module__.rpartition(".")
    has_fix = any(example.fixed is not None for example in cls.bad)
    return RuleEntry(
        code=cls.code,
        name=module.replace("_", "-"),
        category=package.rpartition(".")[2].replace("_", "-"),
        severity=cls.severity,
        default=cls.default,
        triggers=tuple(cls.triggers),
        supersedes=tuple(cls.supersedes),
        # Only running the examples tells a safe fix from another; the word that promises less holds until then.
        fix="unsafe" if has_fix else "none",
        module=cls.__module__,
        class_name=cls.__qualname__,
    )


def load(entry: RuleEntry) -> Rule:
    """The rule itself; its module is imported now. BrokenPack where that fails."""
    from llm_lsp.rule import Rule

    try:
        rule = getattr(import_module(entry.module), entry.class_name)()
    except Exception as error:
        raise BrokenPack(
            f"rule {entry.code} can't be loaded from `{entry.module}`: {_said(error)}; install its pack again"
        ) from error
    if not isinstance(rule, Rule):
        raise BrokenPack(f"rule {entry.code} can't be loaded: `{entry.module}.{entry.class_name}` is not a Rule")
    return rule


def explanation(entry: RuleEntry) -> str:
    """The rule's docstring, in Markdown, without the indentation of its class."""
    for builtin in BUILTIN_CODES:
        if entry.is_builtin and builtin.code == entry.code:
            return builtin.explanation.strip()
    from inspect import cleandoc

    return cleandoc(type(load(entry)).__doc__ or "").strip()


def scan(package: str) -> tuple[RuleEntry, ...]:
    """The rules of a package, found by importing all of its modules; BrokenPack where one can't be used."""
    from llm_lsp.rule import Rule

    found: list[RuleEntry] = []
    for module in _modules(package):
        rules = [
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, Rule)
            and value.__module__ == module.__name__
            and hasattr(value, "code")  # else a class that rules share
        ]
        if len(rules) > 1:
            raise BrokenPack(f"rule pack `{package}`: `{module.__name__}` holds {len(rules)} rules, a file holds one")
        for rule in rules:
            try:
                found.append(entry_of(rule))
            except AttributeError as error:
                raise BrokenPack(f"rule pack `{package}`: `{module.__name__}` is incomplete: {error}") from error
    return tuple(sorted(found, key=_by_code))


def known(rules: Iterable[RuleEntry]) -> dict[str, str]:
    """The names of the rules by code."""
    return {rule.code: rule.name for rule in rules}


def enabled(rules: Iterable[RuleEntry], settings: Settings, path: Path) -> tuple[RuleEntry, ...]:
    """The rules that run on a file, chosen as ruff chooses.

    `select` replaces the default set, `extend-select` adds to the one or the other; `ignore` and the entries of
    `per-file-ignores` that hold for `path` take away. Of two words that speak of a rule the more precise one wins (a
    code or a name over a prefix, a longer prefix over a shorter one, any over `ALL` and over the default), `ignore`
    where they are equal. A rule that is off by default is on as soon as a word of `select` or `extend-select` covers
    it, a prefix too. What could not be read is reported whatever is selected, unless LLM000 or LLM002 is ignored.

    Words that no rule has are passed over here: `settings.check_codes` refuses them with the line they stand on.
    """
    select = (*settings.select, *settings.extend_select)
    ignore = (*settings.ignore, *settings.ignored_in(path))
    return tuple(
        rule
        for rule in rules
        if max(_default_precision(rule, settings), _precision(select, rule)) > _precision(ignore, rule)
        and not _is_off(rule, settings)
    )


def _default_precision(rule: RuleEntry, settings: Settings) -> int:
    return int(rule.code in _ALWAYS or (rule.default and not settings.select))


def _precision(words: Iterable[str], rule: RuleEntry) -> int:
    """How precisely the most precise of the words speaks of the rule; 0 where none does."""
    precision = 0
    for word in words:
        if word in (rule.code, rule.name):
            return _EXACT
        if word == "ALL":
            precision = max(precision, 1)
        elif word and rule.code.startswith(word):
            precision = max(precision, 1 + len(word))
    return precision


def _is_off(rule: RuleEntry, settings: Settings) -> bool:
    return any(settings.severity.get(word, rule.severity) is None for word in (rule.code, rule.name))


# ---------------------------------------------------------------- packs


# Two paths: the one that the process starts with, and what a test makes of it.
@lru_cache(maxsize=2)
def _entries_on(folders: tuple[str, ...]) -> tuple[RuleEntry, ...]:
    packs = _packs(folders)
    if not packs:
        raise NoRulePack
    owners: dict[str, str] = {}
    found: list[RuleEntry] = []
    for package, rules in [("llm_lsp", _builtin_entries()), *((pack.package, _read(pack)) for pack in packs)]:
        for rule in rules:
            for word in (rule.code, rule.name):
                if word in owners:
                    raise BrokenPack(
                        f"`{word}` is defined twice, by `{owners[word]}` and by `{package}`: uninstall one of the packs"
                    )
                owners[word] = package
        found.extend(rules)
    return tuple(sorted(found, key=_by_code))


def _builtin_entries() -> tuple[RuleEntry, ...]:
    return tuple(
        RuleEntry(own.code, own.name, "llm-lint", own.severity, True, (), (), own.fix, "", "")  # noqa: FBT003
        for own in BUILTIN_CODES
    )


def _packs(folders: Iterable[str]) -> list[_Pack]:
    """In the order of their names; a package that is declared twice counts once, as imports would have it."""
    packs: dict[str, _Pack] = {}
    for folder in dict.fromkeys(folder or os.curdir for folder in folders):
        try:
            names = os.listdir(folder)  # noqa: PTH208 - half the time of Path.iterdir, on every start
        except OSError:
            continue  # an archive, or a folder that is not there
        for name in names:
            # An interrupted pip leaves folders that begin with a tilde.
            if name.endswith((".dist-info", ".egg-info")) and not name.startswith("~"):
                declaration = f"{folder}/{name}/entry_points.txt"
                for package in _declared(declaration):
                    packs.setdefault(package, _Pack(package, declaration))
    return [packs[package] for package in sorted(packs)]


def _declared(path: str) -> Iterator[str]:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            data = file.read()
    except OSError:
        return
    if GROUP.encode() not in data:
        return
    section = ""
    for line in map(str.strip, data.decode("utf-8", "replace").splitlines()):
        if line.startswith("["):
            section = line.strip("[] \t")
        elif section == GROUP and not line.startswith(("#", ";")):
            _, equals, value = line.partition("=")
            if equals:
                yield value.partition("[")[0].strip()


def _read(pack: _Pack) -> tuple[RuleEntry, ...]:
    index = f"{pack.package}.index"
    try:
        module = import_module(index)
        # A module of that name may also be a rule about an index.
        return tuple(from_row(row) for row in module.RULES) if hasattr(module, "RULES") else scan(pack.package)
    except ModuleNotFoundError as error:
        if error.name == index:
            return scan(pack.package)
        raise BrokenPack(f"{_named(pack)} can't be imported: {_said(error)}; install it again") from error
    except BrokenPack:
        raise
    except Exception as error:
        raise BrokenPack(f"{_named(pack)}: its index can't be read: {_said(error)}; install it again") from error


def from_row(row: tuple[str, str, str, str, bool, tuple[str, ...], tuple[str, ...], str, str, str]) -> RuleEntry:
    """A rule as an index writes it; ValueError where it does not."""
    code, name, category, severity, default, triggers, supersedes, fix, module, class_name = row
    if fix not in _FIXES:
        raise ValueError(f"{code}: fix is `{fix}`")
    return RuleEntry(code, name, category, Severity(severity), default, triggers, supersedes, fix, module, class_name)


def _modules(package: str) -> Iterator[ModuleType]:
    from pkgutil import walk_packages

    def fail(name: str) -> None:
        error = sys.exc_info()[1]
        raise BrokenPack(f"rule pack `{package}`: `{name}` can't be imported: {_said(error)}") from error

    try:
        root = import_module(package)
    except Exception as error:
        raise BrokenPack(f"rule pack `{package}` can't be imported: {_said(error)}") from error
    yield root
    for found in walk_packages(getattr(root, "__path__", ()), f"{package}.", onerror=fail):
        try:
            yield import_module(found.name)
        except Exception:  # noqa: BLE001 - a module of somebody else may raise anything
            fail(found.name)


def _named(pack: _Pack) -> str:
    return f"rule pack `{pack.package}`, declared in {pack.declared_in}"


def _said(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}"


def _by_code(entry: RuleEntry) -> tuple[str, str]:
    return entry.code, entry.name
