"""What a module imports, of the project and of installed packages, run when a name of theirs is first needed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from llm_lsp.facts.machine import AUTOCAST, GRADIENTS, OFF, ON
from llm_lsp.facts.roots import LONG, Roots
from llm_lsp.facts.values import (
    ANYTHING,
    Class,
    Function,
    Imported,
    Module,
    Object,
    Opaque,
    Symbol,
    Value,
    join,
    options,
)
from llm_lsp.knowledge import kinds, library

if TYPE_CHECKING:
    from llm_lsp.facts.events import Arguments, Frame
    from llm_lsp.source import Source
    from llm_lsp.world import World

__all__ = ["Program"]

_MOST_MODULES = 40
_SMALL_CLASS = 120
_LONG_FUNCTION = 20
"""Lines."""
_DEEPEST_STARS = 4
_OURS = library.LIBRARY_ROOTS | kinds.FRAMEWORK_ROOTS
"""What is known as data, and never looked at."""


class Program(Roots):
    """One module and, as far as its names are used, those that it imports.

    Of an imported module only that runs which binds the names that are used, and nothing under its `__main__` guard; its
    functions run when this module calls them. What that leaves behind stays, whatever branch was running. Of an installed
    package only classes are followed.
    """

    __slots__ = (
        "_entered",
        "_frames",
        "_installed",
        "_outside",
        "_overwritten",
        "_resolved",
        "_unsure",
        "_waiting",
        "_world",
        "_worth",
        "imports",
        "sources",
    )

    def __init__(
        self,
        source: Source,
        world: World,
        stop: Callable[[], bool] | None = None,
        *,
        entered: Source | None = None,
    ) -> None:
        super().__init__(source, stop)
        self.sources: dict[int, Source] = {0: source}
        """The modules that have run, by the id of their frame."""
        self.imports: list[tuple[str, str]] = []
        """What this module imports from outside the known libraries: the name as written, and the importer's path."""
        self._world = world
        self._entered = entered
        """A module whose functions are entered wherever they are called from; it may be newer than its file."""
        self._outside: dict[tuple[str, str, str], Value] = {}
        self._installed: set[str] = set()
        """The paths of those modules that belong to installed packages."""
        self._overwritten: dict[tuple[int, str], Value] = {}
        """Variables of other modules that somebody else has assigned, by the module's frame, to what they were."""
        self._unsure: set[int] = set()
        """The frames of modules whose variables somebody sets by names that are not known."""
        self._frames: dict[str, Frame | None] = {source.path: self.frame}
        self._resolved: dict[Imported, Value] = {}
        self._worth: dict[ast.AST, bool] = {}
        self._waiting: dict[int, dict[str, list[ast.stmt]]] = {}
        """Of the other modules, by frame: the statements that bind a name and have not run."""

    def is_installed(self, path: str) -> bool:
        """Whether a module that has run belongs to an installed package."""
        return path in self._installed

    # ------------------------------------------------------------ import statements

    def run_import(self, node: ast.Import | ast.ImportFrom) -> bool:
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname is not None else alias.name.partition(".")[0]
                self.bind_name(alias.asname or whole, self.imported(whole, None))
            return True
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.has_star_import = True
            else:
                self.bind_name(alias.asname or alias.name, self.imported(module, alias.name))
        return True

    def imported(self, module: str, attribute: str | None) -> Value:
        """A name that an import binds: of a library by its qualified name, of anything else when it is needed."""
        name = module if attribute is None else _dotted(module, attribute)
        if module.partition(".")[0] in library.LIBRARY_ROOTS:
            return Symbol(library.canonical(name))
        frame = self.module_frame()
        importer = self.sources[frame.id].path
        if frame.id == 0:
            self.imports.append((module, importer))
        return Imported(name, module, attribute, importer)

    # ------------------------------------------------------------ what they bind

    def resolve(self, value: Imported) -> Value:
        if not self.frame.is_of_script and self._entered is None:
            return Symbol(value.name)
        known = self._resolved.get(value)
        if known is None:
            # What asks for itself on the way, through a circle of imports, is not known.
            self._resolved[value] = Symbol(value.name)
            known = self._resolved[value] = self._value_of(value)
        return known

    def member_of_import(self, value: Imported, name: str) -> Value:
        return self.resolve(Imported(f"{value.name}.{name}", value.module, name, value.importer))

    def _value_of(self, value: Imported) -> Value:
        if value.importer in self._installed:
            return self._value_outside(value)
        frame = self._module(value.module, value.importer)
        if frame is not None and value.attribute is None:
            return Module(frame.id, value.name, value.module, value.importer)
        found = self.global_of(frame, value.attribute) if frame is not None and value.attribute is not None else None
        if frame is not None and found is not None and (frame.id, value.attribute) in self._overwritten:
            # Whether it was imported before or after is not known.
            found = join(found, self._overwritten[frame.id, str(value.attribute)])
        if frame is not None and found is not None and frame.id in self._unsure:
            return join(found, ANYTHING)
        if isinstance(found, Imported):
            return self.resolve(found)
        if found is None and value.attribute is not None:
            name = _dotted(value.module, value.attribute)
            inner = self._module(name, value.importer)
            if inner is not None:
                return Module(inner.id, value.name, name, value.importer)
        return found or (Symbol(value.name) if frame is not None else self._value_outside(value))

    def _value_outside(self, value: Imported) -> Value:
        """What a name of an installed package is: a class if it is seen to be one, else a symbol as before."""
        name = value.attribute
        if value.module.partition(".")[0] in _OURS:
            return Symbol(value.name)
        if name is None or not name.lstrip("_")[:1].isupper():
            # It may be a module: whoever asks for an attribute of it asks again.
            return value if name is None else Imported(value.name, _dotted(value.module, name), None, value.importer)
        key = (value.module, name, value.importer)
        if key not in self._outside:
            self._outside[key] = Symbol(value.name)
            self._outside[key] = self._class_outside(value, name)
        return self._outside[key]

    def _class_outside(self, value: Imported, name: str) -> Value:
        found = self._installed_global(value.module, name, value.importer)
        cls = self._class_in(found)
        if cls is None and (found is None or isinstance(found, Opaque)) and not value.module.startswith("."):
            defined = self._world.definition(value.module, name)
            if defined is not None:
                self._installed.add(defined[0].path)
                frame = self._begun(defined[0])
                cls = self._class_in(self.global_of(frame, defined[1]) if frame is not None else None)
        return cls or (found if isinstance(found, Symbol) else Symbol(value.name))

    def _class_in(self, value: Value | None) -> Class | None:
        """The class that a framework is behind; of a class or what stands in for it, `except ImportError: X = None`, too."""
        for option, _ in options(value) if value is not None else ():
            cls = self.resolve(option) if isinstance(option, Imported) else option
            if isinstance(cls, Class) and any(base.partition(".")[0] in _OURS for base in cls.library_bases()):
                return cls
        return None

    def _installed_global(self, module: str, name: str, importer: str, depth: int = 0) -> Value | None:
        """A module's variable, looked for in the modules that it imports with a star if it does not bind it itself."""
        source = self._world.installed(module, importer)
        if source is None or depth > _DEEPEST_STARS:
            return None
        self._installed.add(source.path)
        frame = self._begun(source)
        found = self.global_of(frame, name) if frame is not None else None
        if found is not None:
            return found
        for statement in _imports_in(source.tree.body):
            origin = "." * statement.level + (statement.module or "")
            for alias in statement.names:
                if alias.name == "*":
                    found = found or self._installed_global(origin, name, source.path, depth + 1)
                elif name == (alias.asname or alias.name):
                    found = found or Imported(_dotted(origin, alias.name), origin, alias.name, source.path)
        return found

    def is_worth_entering(self, function: Function, arguments: Arguments, receiver: Value | None) -> bool:
        """Functions of other modules are entered only if their text speaks of what rules ask, or if they get a model.

        So are long functions of this module, if it is long. What is not entered stays unknown: entering everything costs
        half as much again on trl, and finds nothing more.
        """
        home = self.module_around(self.frames[function.frame]).id
        if self.sources[home] is self._entered:
            return True
        known = self._worth.get(function.node)
        if known is None:
            known = self._worth[function.node] = self._speaks_of_more(function, home)
        if known or any(self._computes(value) for value in arguments.values()):
            return True
        return isinstance(receiver, Object) and any(map(self._computes, self.held.get(receiver.id, {}).values()))

    def _speaks_of_more(self, function: Function, home: int) -> bool:
        """Whether the text of a function, of the module that runs in the frame `home`, says that it is worth entering."""
        if home == 0:
            if len(self.text) < LONG or _lines_of(function.node) < _LONG_FUNCTION:
                return True
            words = (*library.WORTH_ENTERING, *library.WORTH_RUNNING)
        elif self.has_coroutines:
            words = (*library.WORTH_ENTERING, *library.COMPUTES)
        else:
            words = library.WORTH_ENTERING
        # What `__init__` keeps is what the other methods work with; a long one of a large class costs too much.
        owner = function.owner if function.name == "__init__" else None
        written = owner.node if owner is not None and _lines_of(owner.node) < _SMALL_CLASS else function.node
        text = "\n".join(self.sources[home].lines[written.lineno - 1 : written.end_lineno])
        return any(word in text for word in words)

    def _computes(self, value: Value) -> bool:
        """Whether it is a model, what makes its inputs, or these, and the program makes it."""
        for option, _ in options(value):
            if isinstance(option, Object) and not option.is_outside and self.kind(option) in library.COMPUTING_KINDS:
                return True
            if isinstance(option, Opaque) and option.cls in {library.ENCODING, library.MASK}:
                return True
        return False

    def member(self, module: Module, name: str) -> Value:
        found = self.global_of(self.frames[module.frame], name)
        if found is not None and module.frame in self._unsure:
            return join(found, ANYTHING)
        if found is not None:
            return self.resolve(found) if isinstance(found, Imported) else found
        return self.resolve(Imported(f"{module.name}.{name}", module.module, name, module.importer))

    def assign_member(self, module: Imported | Module, name: str, value: Value) -> None:
        found = module if isinstance(module, Module) else self._value_of(module)
        if not isinstance(found, Module):
            self.escape(value)
            return
        frame = self.frames[found.frame]
        known = self.global_of(frame, name)
        self._overwritten.setdefault((found.frame, name), known or ANYTHING)
        is_certain = known is None or (self.frame.is_of_script and not self.frame.guards)
        frame.locals[name] = value if is_certain else join(known or ANYTHING, value)

    def change_any_member(self, module: Imported | Module) -> None:
        found = module if isinstance(module, Module) else self._value_of(module)
        if isinstance(found, Module):
            self._unsure.add(found.frame)

    def _module(self, name: str, importer: str) -> Frame | None:
        """The frame of a module of the project; None for what is not one."""
        source = self._world.module(name, importer)
        if source is not None and self._entered is not None and source.path == self._entered.path:
            source = self._entered
        return None if source is None else self._begun(source)

    def _begun(self, source: Source) -> Frame | None:
        if source.path not in self._frames:
            self._frames[source.path] = self._begin(source) if len(self._frames) < _MOST_MODULES else None
        return self._frames[source.path]

    def _begin(self, source: Source) -> Frame:
        """A module of which only bare calls have run, such as one that seeds; the rest waits until it is needed."""
        frame = self.new_frame(None, None, None, -1)
        self.sources[frame.id] = source
        self._frames[source.path] = frame
        waiting: dict[str, list[ast.stmt]] = {}
        for statement in source.tree.body:
            for name in _bound_by(statement):
                waiting.setdefault(name, []).append(statement)
        self._waiting[frame.id] = waiting
        self._run(frame, [statement for statement in source.tree.body if isinstance(statement, ast.Expr)])
        return frame

    def global_of(self, frame: Frame, name: str) -> Value | None:
        """A module's variable; the statements that bind it run now if they have not."""
        found = frame.locals.get(name)
        if found is None:
            statements = self._waiting.get(frame.id, {}).pop(name, None)
            if statements is not None:
                self._run(frame, statements)
                found = frame.locals.get(name)
        return found

    def _run(self, frame: Frame, statements: list[ast.stmt]) -> None:
        before, exits, classes = self.frame, self.exits, self.classes_open
        gradients, autocast = self.heap[GRADIENTS], self.heap[AUTOCAST]
        mark = self.trail.mark()
        self.frame, self.exits, self.classes_open = frame, [], []
        self.heap[GRADIENTS], self.heap[AUTOCAST] = ON, OFF
        self.run_block(statements)
        self.heap[GRADIENTS], self.heap[AUTOCAST] = gradients, autocast
        self.frame, self.exits, self.classes_open = before, exits, classes
        self.trail.keep(mark)


def _lines_of(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> int:
    return (node.end_lineno or 0) - node.lineno


def _imports_in(body: list[ast.stmt]) -> Iterator[ast.ImportFrom]:
    """The imports of a module, those for type checkers included: that is how lazy exports are written."""
    for statement in body:
        if isinstance(statement, ast.ImportFrom):
            yield statement
        elif isinstance(statement, (ast.If, ast.Try)):
            yield from _imports_in([*statement.body, *statement.orelse])


def _bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement at the top of a module binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    inner = [child for child in ast.iter_child_nodes(statement) if isinstance(child, (ast.stmt, ast.ExceptHandler))]
    names: set[str] = set()
    for child in inner:
        for part in child.body if isinstance(child, ast.ExceptHandler) else [child]:
            names |= _bound_by(part)
    return names


def _dotted(module: str, name: str) -> str:
    return f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
