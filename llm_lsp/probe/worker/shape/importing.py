"""The user's file as a module: by its dotted name in a package, alone otherwise, with packages that are missing named."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .assigned import record_assignments
from .definitions import run_definitions

OWN_FOLDER = str(Path(__file__).parents[1])


class UserModule(NamedTuple):
    """The user's file, imported."""

    path: str
    text: str
    tree: ast.Module
    namespace: dict[str, object]
    name: str
    missing: list[str]
    """Packages that aren't installed here and were replaced."""
    guessed: dict[str, object]
    """Constants whose own assignment failed, with what they were given instead."""
    is_partial: bool
    """The file can't be imported as a whole; only what it defines was."""
    root: str
    """The folder that holds the user's files: the workspace, or what holds the outermost package."""


class MissingPackageError(Exception):
    """Something of a package was used that isn't installed here."""

    def __init__(self, name: str, package: str) -> None:
        super().__init__(f"`{name}` comes from a package that is not installed here")
        self.package = package


def dotted_name(path: Path) -> tuple[Path, str]:
    """The folder that must be on `sys.path`, and the name by which the file would be imported from there."""
    parts = [] if path.stem == "__init__" else [path.stem]
    folder = path.parent
    while (folder / "__init__.py").exists() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts)


def import_file(path: str, workspace: str | None) -> UserModule:
    """Imports the file; what it raises is let through.

    Raises:
        SyntaxError: The file is no Python.
        OSError: It can't be read.
    """
    file = Path(path).absolute()
    with file.open("rb") as stream:
        source = stream.read()
    text = importlib.util.decode_source(source)
    tree = ast.parse(source, str(file))
    root, name = dotted_name(file)
    for folder in (workspace, str(root)):
        if folder is not None:
            if folder in sys.path:
                sys.path.remove(folder)
            sys.path.insert(0, folder)
    if "." not in name and (name in sys.modules or name in sys.stdlib_module_names or not name.isidentifier()):
        name = f"probed_{name}"
    # The whole workspace is the user's, if it holds the file.
    holds_file = workspace is not None and Path(workspace).absolute() in file.parents
    users_root = str(Path(workspace).absolute()) if workspace is not None and holds_file else str(root)
    own = OwnFile(name, str(file))
    stubs = StubFinder(users_root)
    sys.argv = [str(file)]
    sys.dont_write_bytecode = True
    sys.meta_path.insert(0, own)
    sys.meta_path.append(stubs)
    guessed: dict[str, object] = {}
    is_partial = False
    try:
        module = importlib.import_module(name)
    except OSError:
        # A script that reads its data while it is imported: its classes don't need them.
        module = sys.modules[name] = types.ModuleType(name)
        module.__file__ = str(file)
        module.__package__ = name.rpartition(".")[0]
        guessed = run_definitions(ast.parse(source, str(file)), module, str(file))
        is_partial = True
    finally:
        sys.meta_path.remove(own)
        # The other finder stays: some imports wait in constructors and in `forward`.
    return UserModule(str(file), text, tree, vars(module), name, stubs.packages, guessed, is_partial, users_root)


class OwnFile(importlib.abc.MetaPathFinder):
    """Finds the file itself, whatever other module has its name, and has its assignments recorded."""

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        folders = [str(Path(self.path).parent)] if Path(self.path).name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, self.path, loader=RecordingLoader(fullname, self.path), submodule_search_locations=folders
        )


class RecordingLoader(importlib.machinery.SourceFileLoader):
    """Compiles the text as it is now, never a cached one, with its assignments recorded."""

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path), path)
        return compile(record_assignments(tree), path, "exec", dont_inherit=True)


class StubFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last finder: replaces packages that are missing, so that what does not need them still runs.

    Only for imports that stand in the user's files and outside of `try`: a guarded import must fail as it does for the
    user, and libraries look for optional packages by importing them.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self.packages: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package = fullname.partition(".")[0]
        if package in sys.stdlib_module_names or ("." in fullname and package not in self.packages):
            return None
        frame = inspect.currentframe()
        frame = frame.f_back if frame is not None else None
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        if frame is None or not self.is_users(frame.f_code.co_filename):
            return None
        if is_guarded(frame.f_code.co_filename, frame.f_lineno):
            return None
        if package not in self.packages:
            self.packages.append(package)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def is_users(self, path: str) -> bool:
        return is_users_file(path, self.root)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return Stub(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


@functools.lru_cache(maxsize=4096)
def is_users_file(path: str, root: str) -> bool:
    """Whether a file lies under the user's folder and is neither the probe's nor of a package that is installed there."""
    if not path.startswith(root) or path.startswith(OWN_FOLDER):
        return False
    inside = path[len(root) :].replace("\\", "/").split("/")
    return "site-packages" not in inside and "dist-packages" not in inside


def is_guarded(path: str, line: int) -> bool:
    try:
        tree = ast.parse(Path(path).read_bytes())
    except (OSError, SyntaxError):
        return True
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0):
            return True
    return False


class Stub(types.ModuleType):
    """Stands for a module of a package that isn't installed."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return StubMember(f"{self.__name__}.{name}")


class StubMember:
    """Stands for anything of such a module; using it says which package is missing."""

    def __init__(self, name: str) -> None:
        self.stub_name = name

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return StubMember(f"{self.stub_name}.{name}")

    def __call__(self, *arguments: object, **named: object) -> object:
        # As a decorator it leaves the function as it is.
        if len(arguments) == 1 and not named and callable(arguments[0]):
            return arguments[0]
        raise MissingPackageError(self.stub_name, self.stub_name.partition(".")[0])

    def __getitem__(self, item: object) -> object:
        # `Float[Tensor, "b t d"]` in an annotation.
        return self

    def __or__(self, other: object) -> object:
        return self

    def __ror__(self, other: object) -> object:
        return self

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (object,)
