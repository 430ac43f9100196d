"""`python -m llm_lsp` is `llm-lint`: the process, where `llm_lsp.cli.main` is one command inside of it."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

__all__ = ["run"]


def run() -> NoReturn:
    """Run the command that this process was started for, and end the process."""
    # All that is imported stays, and the check of a file leaves no cycles; the server, which lives long, turns it on.
    gc.disable()
    from llm_lsp.cli import FAILED, main

    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or FAILED
    # As mypy leaves: taking all trees and tables apart one by one costs 10 ms after one file and 120 ms after 60,000
    # lines, and the system takes them back at once.
    os._exit(code)


if __name__ == "__main__":
    run()
