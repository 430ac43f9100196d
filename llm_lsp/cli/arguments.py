"""The command line's grammar.

With argparse: click or rich would cost a third of the time that linting a file takes, 30 to 40 ms at each start.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from llm_lsp import __version__
from llm_lsp.cli.usage import UsageError
from llm_lsp.settings import OUTPUT_FORMATS

__all__ = ["parse"]

FAIL_ON = ("error", "warning", "information", "never")


class _Formatter(argparse.HelpFormatter):
    def __init__(self, prog: str) -> None:
        # Left to itself, it asks `shutil` for the terminal's width, each time an option is added.
        super().__init__(prog, width=100)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (`{self.prog} --help` lists what there is)")


def parse(arguments: Sequence[str] | None) -> tuple[Callable[[argparse.Namespace], int], argparse.Namespace]:
    """The command to run and its options; `--help` and `--version` print and raise SystemExit(0)."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    for name, description, add in _grammars():
        if given[:1] == [name]:
            # Without the options of the others, which take as long again.
            parser = _Parser(prog=f"llm-lint {name}", description=description, formatter_class=_Formatter)
            add(parser)
            return _COMMANDS[name], parser.parse_args(given[1:])
    if not given:
        raise UsageError("no command: `llm-lint check` lints this folder, `llm-lint --help` lists the others")
    if os.path.exists(given[0]):  # noqa: PTH110 - takes whatever the shell gives
        raise UsageError(f"`{given[0]}` is a path, no command: `llm-lint check {given[0]}` lints it")
    parser = _Parser(
        prog="llm-lint",
        description="Finds the faults in language-model code that raise nothing.",
        formatter_class=_Formatter,
    )
    parser.add_argument("--version", action="version", version=f"llm-lint {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=_Parser)
    for name, description, add in _grammars():
        add(commands.add_parser(name, help=description, description=description, formatter_class=_Formatter))
    options = parser.parse_args(given)
    return _COMMANDS[options.command], options


def _grammars() -> tuple[tuple[str, str, Callable[[argparse.ArgumentParser], None]], ...]:
    """Each command's name, description and options."""
    return (
        ("check", "Lint files and folders.", _add_check),
        ("rule", "Explain a rule, or list all.", _add_rule),
        ("config", "Show the settings that hold, the environment and the library versions.", _add_config),
        ("probe", "Run a model class of yours, and show the shapes that go through it.", _add_probe),
        ("server", "Run the language server, for editors.", _add_server),
        ("facts", "Show what is known of the calls in a file: for authors of rules.", _add_facts),
    )


def _run_check(options: argparse.Namespace) -> int:
    from llm_lsp.cli.check import run

    return run(options)


def _run_rule(options: argparse.Namespace) -> int:
    from llm_lsp.cli.rule import run

    return run(options)


def _run_config(options: argparse.Namespace) -> int:
    from llm_lsp.cli.config import run

    return run(options)


def _run_probe(options: argparse.Namespace) -> int:
    from llm_lsp.cli.probe import run

    return run(options)


def _run_server(options: argparse.Namespace) -> int:
    from llm_lsp.cli.server import run

    return run(options)


def _run_facts(options: argparse.Namespace) -> int:
    from llm_lsp.cli.facts import run

    return run(options)


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": _run_check,
    "rule": _run_rule,
    "config": _run_config,
    "probe": _run_probe,
    "server": _run_server,
    "facts": _run_facts,
}


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files and folders, or `-` for stdin")
    parser.add_argument("--stdin-filename", metavar="NAME", help="the name of what `-` reads")
    _add_selection(parser)
    _add_fixing(parser)
    _add_output(parser)
    _add_settings(parser)
    parser.add_argument("--force-exclude", action="store_true", help="exclude files that are given by name too")
    parser.add_argument("--no-cache", action="store_true", help="neither read nor write the cache on the disk")
    shows = parser.add_mutually_exclusive_group()
    shows.add_argument("--show-settings", action="store_true", help="show the settings, lint nothing")
    shows.add_argument("--show-files", action="store_true", help="list the files that would be linted")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("rules", "codes, prefixes of codes and names; separated by commas or repeated")
    group.add_argument("--select", action="append", metavar="RULES", help="run these instead of the selected ones")
    group.add_argument("--extend-select", action="append", metavar="RULES", help="run these as well")
    group.add_argument("--ignore", action="append", metavar="RULES", help="don't run these")


def _add_fixing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="apply the safe fixes")
    group.add_argument("--unsafe-fixes", action="store_true", help="with --fix or --diff: the others as well")
    group.add_argument("--diff", action="store_true", help="print what --fix would change, write nothing")
    group.add_argument("--show-fixes", action="store_true", help="list what was fixed")
    group.add_argument("--add-noqa", action="store_true", help="suppress what is found with `# noqa` comments")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--output-format", choices=OUTPUT_FORMATS, help="`full`, unless settings or LLM_LINT_OUTPUT_FORMAT say"
    )
    group.add_argument("--output-file", metavar="FILE", help="write the report to a file")
    group.add_argument("--statistics", action="store_true", help="how often each rule reports, instead of its reports")
    group.add_argument("-q", "--quiet", action="store_true", help="print diagnostics and errors, nothing else")
    group.add_argument("-v", "--verbose", action="store_true", help="print the traceback where llm-lint itself fails")
    group.add_argument("--fail-on", choices=FAIL_ON, help="the least severity that makes the exit code 1")
    group.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever is found")
    group.add_argument("--exit-non-zero-on-fix", action="store_true", help="exit with 1 if a file was changed")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("settings")
    choice = group.add_mutually_exclusive_group()
    choice.add_argument("--config", metavar="FILE", help="take the settings from this file")
    choice.add_argument("--isolated", action="store_true", help="ignore settings files")
    group.add_argument("--python", metavar="PATH", help="the interpreter or environment whose packages are looked at")


def _add_rule(parser: argparse.ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("rule", nargs="?", metavar="CODE|NAME")
    choice.add_argument("--all", action="store_true", help="every rule")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", nargs="?", default=".", metavar="PATH", help="a file or folder")
    _add_settings(parser)
    # The options of `check` that settings can be replaced with.
    parser.set_defaults(select=None, extend_select=None, ignore=None, fail_on=None, force_exclude=False)


def _add_facts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("place", metavar="FILE[:LINE]", help="a file, and a line of it")


def _add_probe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", choices=("shape",), metavar="shape", help="what is to be found out: the shapes")
    parser.add_argument("place", metavar="FILE[:CLASS]", help="a Python file, which is run, and a module class of it")
    parser.add_argument("--json", action="store_true", help="print the result as JSON, with its status")
    parser.add_argument("--args", metavar="CALL", help="how it is called, such as `GPT(config)(idx=int[2,16])`")
    parser.add_argument("--python", metavar="PATH", help="the interpreter or virtual environment that runs it")
    parser.add_argument("--cuda", action="store_true", help="let it see the GPUs")
    parser.add_argument("--time-limit", metavar="SECONDS", type=float, default=20.0, help="20, if nothing is said")
    parser.add_argument("--memory-limit", metavar="MB", type=float, default=4096.0, help="4096, if nothing is said")


def _add_server(parser: argparse.ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--stdio", action="store_true", help="use stdin and stdout, as without it")
    choice.add_argument("--tcp", metavar="HOST:PORT", help="wait there for one client, to debug the server")
    parser.add_argument("--log-level", choices=("debug", "info", "warning", "error"), default="warning")
