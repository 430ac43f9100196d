"""What the analysis of one file may ask about everything outside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from llm_lsp.knowledge.checkpoints import Checkpoint
    from llm_lsp.source import Source
    from llm_lsp.versions import Requirement

__all__ = ["World"]


class World(Protocol):
    """The surroundings of one file; the same answers give the same diagnostics.

    None is "not known" everywhere, and what is not known is silent.
    """

    def version(self, distribution: str) -> Requirement | None:
        """The versions of a library that the file must work with; None where nothing says so."""
        ...

    def checkpoint(self, name: str) -> Checkpoint | None:
        """The model or tokenizer that `from_pretrained(name)` would load: a folder, or an id."""
        ...

    def importers(self, path: str, names: Iterable[str]) -> list[Source]:
        """The modules of the project that may import the module at `Source.path`, in a stable order.

        Those whose text has none of the names are left out: they do not lead to what is called so.
        """
        ...

    def scripts(self, path: str) -> list[Source] | None:
        """The modules of the project that run something by themselves and may lead to the one at `path`; no tests.

        In a stable order; None if there are more than are worth running.
        """
        ...

    def module(self, name: str, importer: str) -> Source | None:
        """A module of the project.

        Args:
            name: dotted as in `import a.b`; a relative one starts with its dots.
            importer: the `Source.path` of the module that imports it.
        """
        ...

    def installed(self, name: str, importer: str) -> Source | None:
        """A module of a package in the user's environment; nothing of it is executed.

        Args:
            name: as for `module`; a relative one only if `importer` is such a module itself.
            importer: the `Source.path` of the module that imports it.
        """
        ...

    def definition(self, module: str, name: str) -> tuple[Source, str] | None:
        """Where an installed package defines a name that its imports don't show, with the name there.

        Args:
            module: the absolute name of an installed module that gives the name.
            name: of a class.
        """
        ...
