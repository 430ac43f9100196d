"""torch's compiler, put off until a program asks for it.

The first abstract operation of a process imports `torch._dynamo`, a second's worth of modules, to be told that it is not
compiled: torch keeps its own functions out of compiled code by `torch._dynamo.disable`, when each is first called
(`torch/_compile.py`). In a run nothing is compiled (`TORCHDYNAMO_DISABLE`), so that such a function can stay as it is.
Whatever else is asked of the module loads the real one in its place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType

__all__ = ["is_put_off", "put_off_compiler"]

_PACKAGE = "torch._dynamo"
_SOURCE = "torch._dynamo.source"
_MARKS = ("disable", "allow_in_graph", "assume_constant_result")
"""What says of a function how it is to be compiled, and gives it back."""
_ALONE = ("config", "_trace_wrapped_higher_order_op")
"""Modules that fake tensors and transformers ask for, and that need no other of the compiler."""
_OF_THE_COMPILER = re.compile(rb"^(from|import)\s+(\.|torch\._dynamo)", re.MULTILINE)


class _PutOff(ModuleType):
    """Stands for a module as long as nothing is asked of it but the answers."""

    def __init__(self, spec: ModuleSpec, answers: Mapping[str, object]) -> None:
        super().__init__(spec.name)
        self.__spec__ = spec
        self.__file__ = spec.origin
        self.__loader__ = spec.loader
        self.__package__ = spec.parent
        if spec.submodule_search_locations is not None:
            self.__path__ = spec.submodule_search_locations
        self._answers = answers

    def __getattr__(self, name: str) -> object:
        if name in self._answers:
            return self._answers[name]
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _ALONE and self.__name__ == _PACKAGE:
            return import_module(f"{_PACKAGE}.{name}")
        _load(self)
        return getattr(self, name)


def is_put_off(module: object) -> bool:
    """Whether nothing has asked for more of a module than can be answered without it."""
    return type(module) is _PutOff


def _load(module: ModuleType) -> None:
    """Make it the real module, unless it is by now; its package first, as Python does."""
    package = sys.modules.get(_PACKAGE)
    if package is not None and package is not module:
        _load(package)
    spec = module.__spec__
    if not is_put_off(module) or spec is None or spec.loader is None:
        return
    module.__class__ = ModuleType
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(spec.name, None)
        raise


def _unmarked(package: ModuleType, mark: str, function: object = None, *arguments: object, **named: object) -> object:
    if function is None:

        def decorated(function: object) -> object:
            return _unmarked(package, mark, function, *arguments, **named)

        return decorated
    if isinstance(function, FunctionType):
        return function
    _load(package)
    return getattr(package, mark)(function, *arguments, **named)


def _do_nothing(*_: object, **__: object) -> None:
    """What divides compiled code, as each step of an optimizer does, and nothing else."""


class _Source:
    """Where a value comes from, which only compiled code is told; fake tensors want one for each real tensor."""

    def __init__(self, *_: object, **__: object) -> None: ...


class _Finder(MetaPathFinder):
    """Loads the package before one of its modules, as Python does."""

    def __init__(self, package: _PutOff) -> None:
        self.package = package

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 (as Python calls it)
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{_PACKAGE}.") or not is_put_off(self.package) or self.needs_no_other(fullname):
            return None
        _load(self.package)
        loaded = sys.modules.get(fullname)
        if loaded is None:
            return None
        spec = ModuleSpec(fullname, _Loaded(loaded))
        # Of a module that was loaded meanwhile Python takes its own, and would run it once more.
        loaded.__spec__ = spec
        return spec

    def needs_no_other(self, fullname: str) -> bool:
        """Whether this release of torch has a module that doesn't import others of the compiler."""
        name = fullname.removeprefix(f"{_PACKAGE}.")
        try:
            return name in _ALONE and not any(
                _OF_THE_COMPILER.search(Path(folder, f"{name}.py").read_bytes()) for folder in self.package.__path__
            )
        except OSError:
            return False


class _Loaded(Loader):
    """Gives a module that was loaded while its package was."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:  # noqa: ARG002
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


def put_off_compiler(torch: ModuleType) -> None:
    """Have `import torch._dynamo` load it only where it is used; right after torch was imported."""
    spec = None if _PACKAGE in sys.modules else find_spec(_PACKAGE)
    if spec is None or spec.submodule_search_locations is None:
        return
    answers: dict[str, object] = {"graph_break": _do_nothing}
    package = sys.modules[_PACKAGE] = _PutOff(spec, answers)
    answers.update((mark, partial(_unmarked, package, mark)) for mark in _MARKS)
    of_sources = PathFinder.find_spec(_SOURCE, spec.submodule_search_locations)
    if of_sources is not None:
        source = sys.modules[_SOURCE] = _PutOff(
            of_sources, dict.fromkeys(("ConstantSource", "RandomValueSource"), _Source)
        )
        setattr(package, "source", source)  # noqa: B010 (no type knows of it)
    setattr(torch, "_dynamo", package)  # noqa: B010
    sys.meta_path.insert(0, _Finder(package))
