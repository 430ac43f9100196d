"""`llm-lint check`."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from llm_lsp.builtin_codes import NOT_ANALYSED
from llm_lsp.cli.analysis import Analysis, Outcome
from llm_lsp.cli.report import output_format, print_difference, show_fixes, write_report
from llm_lsp.cli.selection import Selection, project_of
from llm_lsp.cli.terminal import progress
from llm_lsp.cli.usage import UsageError
from llm_lsp.collector import collect_if_needed, collector_off
from llm_lsp.diagnostic import Diagnostic
from llm_lsp.project import Project, ProjectFile
from llm_lsp.registry import RuleEntry, entries, explanation, known
from llm_lsp.render.paint import visible
from llm_lsp.render.results import QuotedLines, Results, place
from llm_lsp.render.summary import count, difference_summary
from llm_lsp.source import Source

__all__ = ["run"]

_STDIN = "-"
_CLEAN, _FOUND, _FAILED = 0, 1, 2


def run(options: Namespace) -> int:
    """Lint what the options name and return the exit code."""
    _refuse_contradictions(options)
    rules = entries()
    selection = Selection(options, rules)
    reads_stdin = options.paths == [_STDIN]
    project = project_of(options, [] if reads_stdin else options.paths)
    chosen = output_format(options, project.settings_in(Path.cwd()))
    files = [_stdin_file(project, options.stdin_filename)] if reads_stdin else list(project.files())
    selection.check_all(project, files)
    if options.show_settings:
        from llm_lsp.cli.config import show

        show(project, selection, files[0].shown_path if files else options.paths[0], options)
        return _CLEAN
    if options.show_files:
        for file in files:
            print(file.shown_path)
        return _CLEAN
    job = _Job(options, project, selection)
    if reads_stdin:
        job.check_stdin(files[0])
    else:
        job.check_files(files)
    return job.report(chosen, rules)


class _Job:
    """Files checked one after the other, and what is to be said of them at the end."""

    def __init__(self, options: Namespace, project: Project, selection: Selection) -> None:
        self._options = options
        self._project = project
        self._selection = selection
        self._analysis = Analysis(project, selection, verbose=options.verbose)
        self._lines = QuotedLines(self._read_again)
        self._files = 0
        self._diagnostics: list[Diagnostic] = []
        self._changed: dict[str, dict[str, int]] = {}
        """How often each code was repaired, or suppressed, by path."""
        self._is_grave = False
        self._failures = [problem.message for problem in project.problems]
        # Where the file's text goes to stdout, the report has to go elsewhere.
        self._stream = sys.stdout

    def check_files(self, files: Sequence[ProjectFile]) -> None:
        if not files and not self._failures and not self._options.quiet:
            print("llm-lint: warning: there are no Python files or notebooks here", file=sys.stderr)
        with collector_off():
            for file in progress(files, len(files), "files", show=not self._options.quiet):
                self._take(file, self._written(file, self._outcome(file, None)))
                collect_if_needed()

    def check_stdin(self, file: ProjectFile) -> None:
        if sys.stdin is None:
            raise UsageError("stdin is closed, so `-` has nothing to read")
        source = Source.from_bytes(file.shown_path, sys.stdin.buffer.read(), max_size=file.settings.max_source_size)
        is_skipped = self._project.is_skipped(file.path)
        outcome = Outcome((), source) if is_skipped else self._outcome(file, source)
        if not is_skipped:
            self._take(file, outcome)
        if self._options.fix or self._options.add_noqa:
            self._stream = sys.stderr
            sys.stdout.flush()
            sys.stdout.buffer.write((outcome.source or source).data)

    def report(self, chosen: str, rules: Sequence[RuleEntry]) -> int:
        """Print what was found and return the exit code."""
        options = self._options
        if options.diff or options.add_noqa:
            # Nothing else of the report is printed, and a file that was given up is no file without changes.
            self._failures += [
                f"{place(diagnostic.location)}: {diagnostic.message}"
                for diagnostic in self._diagnostics
                if diagnostic.code == NOT_ANALYSED.code
            ]
        for failure in self._failures:
            print(f"llm-lint: {visible(failure)}", file=sys.stderr)
        changes = sum(sum(counts.values()) for counts in self._changed.values())
        if options.diff:
            left = () if options.unsafe_fixes else self._diagnostics
            said = difference_summary(changes, len(self._changed), left)
            if said and not options.quiet:
                print(said, file=sys.stderr)
            return self._exit_code(found=bool(changes))
        if options.add_noqa:
            if not options.quiet:
                print(
                    f"Suppressed {count(changes, 'problem')} in {count(len(self._changed), 'file')}.", file=sys.stderr
                )
            return self._exit_code(found=False)
        by_code = {rule.code: rule for rule in rules}

        def explain(code: str) -> str:
            return explanation(by_code[code])

        results = Results(
            diagnostics=tuple(self._diagnostics),
            files=self._files,
            lines=self._lines,
            explain=explain,
            root=str(Path.cwd()),
            fixed=changes,
            unsafe_fixes=options.unsafe_fixes,
        )
        write_report(results, chosen, options, self._stream)
        if options.show_fixes:
            for line in show_fixes(self._changed, known(rules)):
                print(line, file=self._stream)
        return self._exit_code(found=self._is_grave or (options.exit_non_zero_on_fix and changes > 0))

    def _outcome(self, file: ProjectFile, source: Source | None) -> Outcome:
        options = self._options
        if options.add_noqa:
            return self._analysis.suppress(file, source)
        if options.fix or options.diff:
            return self._analysis.fix(file, source, unsafe=options.unsafe_fixes)
        return self._analysis.check(file, source)

    def _written(self, file: ProjectFile, outcome: Outcome) -> Outcome:
        """The outcome after the file was changed on the disk, or that of the file as it is where that failed."""
        if outcome.before is None or outcome.source is None or self._options.diff:
            return outcome
        from llm_lsp.fixes import NotWritten, write

        try:
            write(file.path, outcome.before.data, outcome.source.data)
        except NotWritten as error:
            self._failures.append(str(error))
            return self._analysis.check(file, outcome.before)
        return outcome

    def _take(self, file: ProjectFile, outcome: Outcome) -> None:
        self._files += 1
        if outcome.failure is not None:
            self._failures.append(outcome.failure)
        if outcome.before is not None and outcome.source is not None:
            self._changed[file.shown_path] = dict(outcome.changes)
            if self._options.diff:
                print_difference(outcome.before, outcome.source, sys.stdout)
        if outcome.source is not None:
            self._lines.keep(outcome.source, outcome.diagnostics)
        self._diagnostics += outcome.diagnostics
        threshold = file.settings.fail_on
        self._is_grave |= threshold is not None and any(
            diagnostic.severity.is_at_least(threshold) for diagnostic in outcome.diagnostics
        )

    def _exit_code(self, *, found: bool) -> int:
        if self._failures:
            return _FAILED
        return _FOUND if found and not self._options.exit_zero else _CLEAN

    def _read_again(self, path: str) -> Source | None:
        """A file that a related place lies in, to quote it."""
        try:
            return self._project.source(self._project.file(path))
        except OSError:
            return None


def _refuse_contradictions(options: Namespace) -> None:
    if _STDIN in options.paths:
        if len(options.paths) > 1:
            raise UsageError("`-` reads one file from stdin and can't be combined with paths")
    elif options.stdin_filename is not None:
        raise UsageError("--stdin-filename names what `-` reads: give `-` as the path")
    if options.add_noqa and (options.fix or options.diff):
        raise UsageError("--add-noqa can't be combined with --fix or --diff: run one after the other")
    missing = [path for path in options.paths if path != _STDIN and not os.path.exists(path)]  # noqa: PTH110 - takes ""
    if missing:
        raise UsageError("; ".join(f"`{path}` does not exist" for path in missing) + "; nothing was linted")


def _stdin_file(project: Project, name: str | None) -> ProjectFile:
    file = project.file(name or "stdin.py")
    return file if name else file._replace(shown_path=_STDIN)
