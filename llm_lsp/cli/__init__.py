"""The command `llm-lint`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from llm_lsp.cli.arguments import parse
from llm_lsp.cli.terminal import prepare_streams, silence_stdout

__all__ = ["main"]

FAILED = 2
"""The exit code where nothing could be checked: 0 is clean, 1 is that something was found."""

# As shells count a program that a signal ended: 128 and the number of SIGINT or SIGPIPE.
INTERRUPTED = 130
READER_LEFT = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command (those of the process where `arguments` is None) and return its exit code."""
    prepare_streams()
    try:
        command, options = parse(arguments)
        code = command(options)
        sys.stdout.flush()
    except SystemExit as asked:  # of --help and --version
        return asked.code if isinstance(asked.code, int) else 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return READER_LEFT
    except Exception as error:  # noqa: BLE001 - each has its exit code
        from llm_lsp.cli.failures import is_for_the_user

        if not is_for_the_user(error):
            from traceback import print_exc

            # A bug of ours; with a code of its own, since 1 would say that something was found.
            print_exc()
        print(f"llm-lint: {error}", file=sys.stderr)
        return FAILED
    return code
