"""The codes that llm-lint reports by itself, without a rule: what could not be read, and noqa comments without use."""

from __future__ import annotations

from llm_lsp.diagnostic import Severity
from llm_lsp.named_tuples import NamedTuple

__all__ = ["BUILTIN_CODES", "NOT_ANALYSED", "SYNTAX_ERROR", "UNUSED_SUPPRESSION", "BuiltinCode"]


class BuiltinCode(NamedTuple):
    """One such code, in the words that a rule has."""

    code: str
    name: str
    severity: Severity
    fix: str
    explanation: str


SYNTAX_ERROR = BuiltinCode(
    "LLM000",
    "syntax-error",
    Severity.ERROR,
    "none",
    """The file is not Python that this interpreter can parse.

The broken lines are passed over and the rest of the file keeps its diagnostics; whatever the broken lines might
have done counts as unknown, so that no rule concludes from their absence. Syntax that is newer or older than the
Python that runs llm-lint is reported in the same way.
""",
)

UNUSED_SUPPRESSION = BuiltinCode(
    "LLM001",
    "unused-suppression",
    Severity.WARNING,
    "safe",
    """A comment suppresses a diagnostic that is not there.

A `# noqa` or `# llm-lint: ignore[...]` that names one of our codes outlives the fault that it excused, and would hide
the next one on its line. Only codes whose rule ran on the whole file are judged: a rule that is switched off, a
file with a syntax error or an analysis that gave up proves nothing. The fix takes the code away, and the comment with
its last code.
""",
)

NOT_ANALYSED = BuiltinCode(
    "LLM002",
    "not-analysed",
    Severity.ERROR,
    "none",
    """The file, or a rule on it, was given up.

The file is too large (`max-source-size`), nested too deeply, not text, not readable as a notebook, or a rule failed on
it. Nothing is concluded from what was not looked at; the other files, and the other rules on this one, are reported as
usual. A rule that fails is a bug of the rule: `--verbose` shows the traceback to report.
""",
)

BUILTIN_CODES = (SYNTAX_ERROR, UNUSED_SUPPRESSION, NOT_ANALYSED)
