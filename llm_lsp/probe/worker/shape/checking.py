"""A file, its classes, their runs, and what comes of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

from torch import nn

from ..limits import is_out_of_memory
from .arguments import Recipe, recipes
from .classes import ModuleClass, by_distance, makers, module_classes, roots_first, text_of
from .configs import Notes, NoValueError
from .containers import listed, mapped
from .deciding import fail_alike, verdict
from .errors import explain
from .importing import MissingPackageError, UserModule, dotted_name, import_file
from .oracles import is_decoder_only
from .recording import Progress
from .results import Context, Report
from .running import Ran, Runner, silence_torch
from .searching import Found, Search
from .user_calls import BadCallError, UserCall, parse_user_call, probe_comments

Outcome = dict[str, object]
Emit = Callable[[dict[str, object]], None]
Asked = dict[str, UserCall | BadCallError]
"""What the user wrote about the arguments of a class."""


class Check:
    """One request."""

    def __init__(self, request: Mapping[str, object], emit: Emit) -> None:
        self.request = request
        self.emit = emit
        self.started = time.process_time()

    def outcome(self) -> Outcome:
        """Imports the file and checks what is asked for."""
        silence_torch()
        path = str(self.request["file"])
        workspace = self.request.get("workspace")
        self.progress("import", Progress(0, 1))
        try:
            user = import_file(path, workspace if isinstance(workspace, str) else None)
        except SystemExit as error:
            message = f"the file called exit({error.code!r}) while it was imported"
            return {"status": "exit", "result": self.import_error(message, error, path)}
        except (ModuleNotFoundError, MissingPackageError) as error:
            missing = error.package if isinstance(error, MissingPackageError) else (error.name or "").partition(".")[0]
            message = f"`{missing}` is not installed here"
            return {
                "status": "missing_package",
                "result": {**self.import_error(message, error, path), "missing": [missing]},
            }
        except Exception as error:  # whatever the user's file raises
            if is_out_of_memory(error):
                raise
            return {"status": "user_error", "result": self.import_error(None, error, path)}
        return self.check_file(user)

    def import_error(self, message: str | None, error: BaseException, path: str) -> dict[str, object]:
        explained = explain(error, root_of(path), None)
        value = explained.as_value()
        if isinstance(error, SyntaxError) and error.filename is not None:
            value = syntax_error(error)
        if message is not None:
            value["message"] = message
        return {"target": self.request.get("target"), "stage": "import", "confirmed": True, "error": value}

    def check_file(self, user: UserModule) -> Outcome:
        classes = module_classes(user)
        target = self.request.get("target")
        try:
            asked = self.asked(user)
        except BadCallError as error:
            return without_call(target, error)
        if isinstance(target, str):
            if target not in classes:
                return {
                    "status": "unsupported",
                    "result": {"target": target, "problem": self.why_no_class(user, target)},
                }
            return ClassCheck(user, classes, asked, self).outcome(target)
        if not classes:
            problem = "the file defines no `nn.Module`"
            return {"status": "unsupported", "result": {"target": None, "problem": problem}}
        return self.check_all(user, classes, asked)

    def why_no_class(self, user: UserModule, target: str) -> str:
        if target in user.namespace:
            return f"`{target}` is no `nn.Module`"
        return f"the file defines no class `{target}` at its top level"

    def asked(self, user: UserModule) -> Asked:
        """What the user wrote about arguments: in the request, or in comments."""
        found = probe_comments(user)
        text = self.request.get("args")
        if isinstance(text, str) and text.strip():
            call = parse_user_call(text)
            target = self.request.get("target")
            if isinstance(target, str) and call.name != target:
                raise BadCallError(f"`{text.strip()}` makes no `{target}`")
            found[call.name] = call
        return found

    def check_all(self, user: UserModule, classes: dict[str, ModuleClass], asked: Asked) -> Outcome:
        """Roots first; a class that ran inside one of them needs no run of its own."""
        outcomes: list[Outcome] = []
        covered: set[str] = set()
        for name in roots_first(classes):
            if name in covered:
                continue
            done = ClassCheck(user, classes, asked, self).outcome(name)
            outcomes.append(done)
            if done["status"] == "ok":
                covered |= types_of(done)
        status = next((each for each in ORDER if any(done["status"] == each for done in outcomes)), "ok")
        return {"status": status, "result": {"target": None, "classes": outcomes, "timing": self.timing()}}

    def progress(self, stage: str, progress: Progress) -> None:
        self.emit({"event": "progress", "stage": stage, "done": progress.done, "total": progress.total})

    def timing(self) -> dict[str, float]:
        """CPU seconds."""
        return {"cpu_s": round(time.process_time() - self.started, 3)}


ORDER = ("user_error", "missing_package", "needs_args", "unsupported", "ok")
"""Of several outcomes the one that says most about the file."""


def without_call(target: object, error: BadCallError) -> Outcome:
    return {"status": "needs_args", "result": {"target": target, "problem": str(error), "paste": None}}


def types_of(outcome: Outcome) -> set[str]:
    rows = listed((mapped(outcome["result"]) or {}).get("rows")) or []
    return {str((mapped(row) or {}).get("type")) for row in rows}


def root_of(path: str) -> str:
    return str(dotted_name(Path(path).absolute())[0])


def syntax_error(error: SyntaxError) -> dict[str, object]:
    frame: dict[str, object] = {
        "file": error.filename,
        "line": error.lineno,
        "col": max((error.offset or 1) - 1, 0),
        "end_line": error.end_lineno,
        "end_col": max((error.end_offset or 1) - 1, 0),
        "function": "<module>",
        "tensors": {},
    }
    return {"message": f"SyntaxError: {error.msg}", "op": None, "operands": [], "frames": [frame]}


class ClassCheck:
    """One class: alone, or through a class of the file that holds it."""

    def __init__(self, user: UserModule, classes: dict[str, ModuleClass], asked: Asked, check: Check) -> None:
        self.user = user
        self.classes = classes
        self.asked = asked
        self.check = check
        self.runner = Runner(user.root, check.progress)
        self.search = Search(self.runner, user.namespace)

    def outcome(self, name: str) -> Outcome:
        """What comes of the class; a class that holds it knows better than a guess what it is given."""
        call = self.asked.get(name)
        if isinstance(call, BadCallError):
            return without_call(name, call)
        found = self.find(name)
        if found.ran is not None:
            return self.report(name, found, None).finished()
        own = verdict(found)
        if own is not None and own.is_error and found.recipe.trusted:
            return self.report(name, found, None).failed(own)
        for owner in by_distance(name, makers(self.classes)):
            through = self.find(owner)
            if through.ran is not None and ran_within(name, through.ran):
                return self.report(name, through, owner).finished()
            theirs = verdict(through) if through.ran is None else None
            if theirs is not None and theirs.is_error:
                return self.report(name, through, owner).failed(theirs)
        if own is not None and own.is_error:
            return self.report(name, found, None).failed(own)
        return self.report(name, found, None).without_arguments(own)

    def find(self, name: str) -> Found:
        """The first recipe that runs; else the one whose failure says most."""
        target = self.classes[name]
        call = self.asked.get(name)
        asked = call if isinstance(call, UserCall) else None
        tried: list[Found] = []
        for recipe in recipes(self.user, target, asked):
            self.check.progress("construct", Progress(0, 1))
            found = self.search.try_recipe(recipe, asked)._replace(is_partial=self.user.is_partial)
            tried.append(found)
            if found.ran is not None or is_decided(found):
                return found
        best = furthest_of(tried)
        if best is None:
            return Found(nothing(target), None, [])
        guessed = [each for each in tried if not each.recipe.trusted]
        return best._replace(is_refuted=best in guessed and not fail_alike(guessed))

    def report(self, name: str, found: Found, via: str | None) -> Report:
        run = self.classes[via or name]
        text = text_of(run.name, self.classes, self.user.text)
        context = Context(self.user, self.classes, self.runner, self.check.emit, self.check.timing)
        return Report(context, name, via, found, is_decoder=is_decoder_only(run.name, text))


def nothing(target: ModuleClass) -> Recipe:
    def make(notes: Notes, shrunk: bool) -> nn.Module:
        raise NoValueError(target.name)

    return Recipe("name", make)


def is_decided(found: Found) -> bool:
    """The program is at fault, and no other way to make the model will change that."""
    done = verdict(found)
    return found.recipe.trusted and done is not None and done.is_error


def furthest_of(tried: list[Found]) -> Found | None:
    return max(tried, key=lambda found: max((each.finished for each in found.failures), default=-1), default=None)


def ran_within(name: str, ran: Ran) -> bool:
    return any(type(row.module).__name__ == name for row in ran.recorder.rows.values())
