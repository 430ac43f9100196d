"""The worker as a program: `python -u .../worker/__main__.py`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

_NAME = "llm_lint_worker"


def _register() -> None:
    """Make this folder a package, and take it off the path that the user's modules are found on."""
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (before anything else is imported)
    if sys.path and os.path.abspath(sys.path[0]) == folder:  # noqa: PTH100
        del sys.path[0]
    spec = spec_from_file_location(_NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder])  # noqa: PTH118
    if spec is None or spec.loader is None:
        sys.exit(f"{folder} is not the folder of the worker")
    package = module_from_spec(spec)
    sys.modules[_NAME] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    if sys.version_info < (3, 10):  # noqa: UP036 (the user's interpreter may be any)
        sys.exit(f"it needs Python 3.10 or newer, and {sys.executable} is Python {sys.version.split()[0]}")
    _register()
    import_module(f"{_NAME}.serve").main(sys.argv[1:])
