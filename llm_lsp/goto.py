"""A program of its own: where an installed package defines a name, found by jedi. Started by `definitions.py`, by path.

It reads sources and never imports a module that it is asked about: no compiled module of the user's is loaded, no
interpreter is started. Input and output are JSON; the limits are those that it sets itself, so that they hold from the
first line on. Where the system has none for memory (Windows), only the time is limited.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

__all__: list[str] = []


def main() -> None:
    """Answer the one question on standard input: `null`, or the file, the name there."""
    question = json.load(sys.stdin)
    _limit(question["seconds"], question["megabytes"])
    # Started isolated, so that no variable of the environment can put something else in jedi's place.
    sys.path[:] = question["own_path"]
    json.dump(_found(question["search_path"], question["module"], question["name"]), sys.stdout)


def _limit(seconds: int, megabytes: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, megabytes << 20)):
        try:
            resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):
            continue  # macOS takes no limit of addresses, and containers may have lower ones


def _found(search_path: list[str], module: str, wanted: str) -> tuple[str, str] | None:
    # By name, since jedi has no types that checkers could read.
    jedi, environment = import_module("jedi"), import_module("jedi.api.environment").InterpreterEnvironment()
    project = jedi.Project(search_path[0], sys_path=search_path, smart_sys_path=False, load_unsafe_extensions=False)
    code = f"from {module} import {wanted}"
    script = jedi.Script(code, project=project, environment=environment)
    names = script.goto(1, len(code), follow_imports=True)
    if not any(name.type == "class" for name in names):
        # What is only computed, `Model = choose()`, has a type but no definition.
        names = script.infer(1, len(code))
    for name in names:
        if name.type == "class" and name.module_path is not None:
            return str(name.module_path), str(name.name)
    return None


if __name__ == "__main__":
    main()
