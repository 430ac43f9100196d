"""Starts llm-lint with the interpreter that runs this file, or says what that interpreter has.

- `launch.py inspect`: as JSON, the version of Python, its path, and the version of the llm-lint that is installed there;
- `launch.py bundled ARGUMENTS...`: the llm-lint that the extension brought along;
- `launch.py installed ARGUMENTS...`: the llm-lint of the interpreter's own environment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

BUNDLED = Path(__file__).resolve().parents[1] / "bundled"


def main(mode: str, arguments: list[str]) -> None:
    """Do one of the three."""
    # A script's own folder goes first on the path, and `-m` would put the user's folder there.
    own = str(Path(__file__).resolve().parent)
    sys.path[:] = [folder for folder in sys.path if not folder or str(Path(folder).resolve()) != own]
    if mode == "inspect":
        json.dump(inspected(), sys.stdout)
        return
    if mode == "bundled":
        # First, so that nothing of the environment takes the place of what was tested together; what is not bundled,
        # such as libcst and rule packs of others, is still found behind it.
        sys.path.insert(0, str(BUNDLED))
    sys.argv = ["llm-lint", *arguments]
    from llm_lsp.__main__ import run

    run()


def inspected() -> dict[str, str | None]:
    """What the extension chooses by; nothing but the standard library is imported."""
    from importlib import metadata

    try:
        version: str | None = metadata.version("llm-lsp")
    except metadata.PackageNotFoundError:
        version = None
    return {
        "version": ".".join(map(str, sys.version_info[:3])),
        "executable": sys.executable,
        "llmLint": version,
    }


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
