"""Diagnostics as text, without files and without a command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

import pytest

import llm_lsp
from llm_lsp.diagnostic import (
    Applicability,
    Diagnostic,
    Edit,
    Fix,
    Location,
    Position,
    Range,
    Related,
    Severity,
)
from llm_lsp.render import Paint, Results, renderer
from llm_lsp.render.results import QuotedLines
from llm_lsp.render.summary import statistics, summary
from llm_lsp.settings import OUTPUT_FORMATS
from llm_lsp.source import Source

TRAIN = (
    "\n" * 15
    + """    tokenizer = AutoTokenizer.from_pretrained("distilbert-base-cased")
    model = AutoModelForSequenceClassification.from_pretrained(args.model_name)


    encoded = tokenizer(line.strip(), return_tensors="pt")
"""
)


def explanation(code: str) -> str:
    return f"What {code} means.\n\nAnd why."


def at(path: str, row: int, column: int, end_row: int, end_column: int, cell: int | None = None) -> Location:
    return Location(path, cell, Range(Position(row, column), Position(end_row, end_column)))


def diagnostic(
    location: Location,
    *,
    message: str = "wrong",
    severity: Severity = Severity.WARNING,
    related: tuple[Related, ...] = (),
    help: str | None = None,
    fix: Fix | None = None,
    code: str = "LLM301",
    name: str = "gradients-in-inference",
) -> Diagnostic:
    return Diagnostic(code, name, severity, message, location, related, help, fix)


def fix_at(location: Location, applicability: Applicability = Applicability.UNSAFE) -> Fix:
    return Fix("load the other tokenizer", applicability, (Edit(location, '"b"'),))


def results(
    *diagnostics: Diagnostic, texts: Mapping[str, str] | None = None, fixed: int = 0, unsafe_fixes: bool = False
) -> Results:
    sources = {path: Source.from_text(path, text) for path, text in (texts or {}).items()}
    return Results(
        diagnostics=diagnostics,
        files=3,
        lines=QuotedLines(sources.get),
        explain=explanation,
        root="/project",
        fixed=fixed,
        unsafe_fixes=unsafe_fixes,
    )


def text(output_format: str, given: Results, *, colour: bool = False) -> str:
    return "\n".join(renderer(output_format)(given, Paint(colour=colour)))


def junit(given: Results) -> ET.Element:
    return ET.fromstring(text("junit", given))  # noqa: S314 - our own


def excerpt(line: str, start: int, end: int) -> list[str]:
    """The source line and its underline as `full` shows them, without the gutter."""
    given = results(diagnostic(at("a.py", 1, start, 1, end)), texts={"a.py": line})
    _, _, _, quoted, underline, _ = text("full", given).split("\n")
    return [quoted.removeprefix("1 | "), underline.removeprefix("  | ")]


TOKENIZER = diagnostic(
    at("train.py", 16, 17, 16, 71),
    code="LLM101",
    name="tokenizer-of-another-model",
    severity=Severity.ERROR,
    message="tokenizer `distilbert-base-cased` (28,996 tokens) feeds model `distilbert-base-uncased` (30,522)",
    related=(
        Related(at("train.py", 17, 13, 17, 80), "the model, `args.model_name` defaults to it"),
        Related(at("train.py", 20, 15, 20, 59), "meets the model here"),
    ),
    help="load the tokenizer of `args.model_name`",
    fix=fix_at(at("train.py", 16, 17, 16, 71)),
)


def test_every_format_of_the_settings_has_a_renderer() -> None:
    for name in OUTPUT_FORMATS:
        assert callable(renderer(name))


def test_a_format_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="`yaml` is not an output format"):
        renderer("yaml")


def test_full_shows_the_source_the_related_places_and_the_help() -> None:
    assert (
        text("full", results(TOKENIZER, texts={"train.py": TRAIN}))
        == """\
train.py:16:17: error LLM101 tokenizer-of-another-model [unsafe fix]
  tokenizer `distilbert-base-cased` (28,996 tokens) feeds model `distilbert-base-uncased` (30,522)
   |
16 |     tokenizer = AutoTokenizer.from_pretrained("distilbert-base-cased")
   |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
17 |     model = AutoModelForSequenceClassification.from_pretrained(args.model_name)
   |             ------------------------------------------------------------------- the model, `args.model_name` defaults to it
20 |     encoded = tokenizer(line.strip(), return_tensors="pt")
   |               -------------------------------------------- meets the model here
   = help: load the tokenizer of `args.model_name`
"""
    )


def test_a_related_place_in_another_file_gets_its_own_excerpt() -> None:
    given = diagnostic(at("a.py", 1, 1, 1, 4), related=(Related(at("lib/b.py", 2, 1, 2, 2), "made here"),))
    assert (
        text("full", results(given, texts={"a.py": "abc\n", "lib/b.py": "\nx = 1\n"}))
        == """\
a.py:1:1: warning LLM301 gradients-in-inference
  wrong
  |
1 | abc
  | ^^^
 --> lib/b.py:2:1
  |
2 | x = 1
  | - made here
"""
    )


def test_a_related_place_that_cant_be_read_keeps_its_message() -> None:
    given = diagnostic(at("a.py", 1, 1, 1, 4), related=(Related(at("gone.py", 2, 1, 2, 2), "made here"),))
    assert " --> gone.py:2:1 made here\n" in text("full", results(given, texts={"a.py": "abc\n"}))


def test_two_marks_on_one_line_quote_it_once() -> None:
    given = diagnostic(at("a.py", 1, 5, 1, 8), related=(Related(at("a.py", 1, 1, 1, 2), "here"),))
    shown = text("full", results(given, texts={"a.py": "x = abc\n"})).split("\n")
    assert shown[3:6] == ["1 | x = abc", "  |     ^^^", "  | - here"]


def test_a_short_range_of_several_lines_is_underlined_whole() -> None:
    given = diagnostic(at("a.py", 1, 5, 3, 2))
    shown = text("full", results(given, texts={"a.py": "x = f(\n    1,\n)\n"})).split("\n")
    assert shown[3:-1] == ["1 | x = f(", "  |     ^^", "2 |     1,", "  |     ^^", "3 | )", "  | ^"]


def test_a_long_range_is_shown_by_its_ends() -> None:
    given = diagnostic(at("a.py", 1, 1, 9, 6))
    shown = text("full", results(given, texts={"a.py": "for x in y:\n" + "    x\n" * 8})).split("\n")
    assert shown[3:-1] == ["1 | for x in y:", "  | ^^^^^^^^^^^", "...", "9 |     x", "  |     ^"]


def test_a_range_that_ends_at_a_line_start_leaves_that_line_out() -> None:
    given = diagnostic(at("a.py", 1, 1, 2, 1))
    shown = text("full", results(given, texts={"a.py": "abc\nnot this\n"}))
    assert "not this" not in shown
    assert "^^^" in shown


@pytest.mark.parametrize(
    ("line", "start", "end", "quoted", "underline"),
    [
        ("x = abc", 5, 8, "x = abc", "    ^^^"),
        ("\tx = abc", 6, 9, "    x = abc", "        ^^^"),
        ("ab\tabc", 4, 7, "ab  abc", "    ^^^"),
        ('s = "日本" + abc', 12, 15, 's = "日本" + abc', " " * 13 + "^^^"),
        ('s = "日本"', 6, 8, 's = "日本"', " " * 5 + "^^^^"),
        ("e = '🤗', abc", 10, 13, "e = '🤗', abc", " " * 10 + "^^^"),
        ("n = 'n\u0303', abc", 11, 14, "n = 'n\u0303', abc", " " * 9 + "^^^"),
        ("x = '\x1b[2J', abc", 13, 16, "x = '?[2J', abc", " " * 12 + "^^^"),
        ("x = '\u202e', abc", 10, 13, "x = '?', abc", " " * 9 + "^^^"),
        ("abc", 4, 4, "abc", "   ^"),
        ("abc", 2, 99, "abc", " ^^"),
        ("abc", 90, 99, "abc", "   ^"),
    ],
)
def test_the_underline_stands_below_its_range(line: str, start: int, end: int, quoted: str, underline: str) -> None:
    assert excerpt(line, start, end) == [quoted, underline]


def test_a_long_line_is_cut_around_the_range() -> None:
    line = "x = [" + "1234, " * 300 + "target, " + "5678, " * 300 + "]"
    start = line.index("target") + 1
    quoted, underline = excerpt(line, start, start + 6)
    assert len(quoted) < 140
    assert quoted.startswith("...")
    assert quoted.endswith("...")
    assert quoted[underline.index("^") : underline.rindex("^") + 1] == "target"


def test_the_underline_of_a_range_longer_than_the_screen_ends_with_the_cut() -> None:
    quoted, underline = excerpt("call(" + "1234, " * 300 + ")", 1, 1807)
    assert len(underline) <= len(quoted) < 140


def test_a_file_that_was_not_read_has_a_header_and_a_message_only() -> None:
    given = diagnostic(at("a.py", 1, 1, 1, 1), message="can't be read", help="look at its permissions")
    assert text("full", results(given)) == (
        "a.py:1:1: warning LLM301 gradients-in-inference\n  can't be read\n  = help: look at its permissions\n"
    )


def test_no_message_and_no_path_reaches_the_terminal_raw() -> None:
    given = diagnostic(at("a\x1b[31m\n.py", 1, 1, 1, 1), message="one\ntwo\x07")
    for name in ("full", "concise", "grouped"):
        shown = text(name, results(given))
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert r"one\ntwo\x07" in shown


def test_colours_are_added_around_the_same_words() -> None:
    given = results(TOKENIZER, texts={"train.py": TRAIN})
    for name in ("full", "concise", "grouped"):
        coloured = text(name, given, colour=True)
        assert "\033[1;31merror" in coloured
        plain = coloured
        for code in ("\033[0m", "\033[1m", "\033[1;31m", "\033[34m", "\033[36m", "\033[1;36m"):
            plain = plain.replace(code, "")
        assert plain == text(name, given)


def test_concise_is_one_line_each() -> None:
    in_cell = diagnostic(
        at("run.ipynb", 2, 5, 2, 9, cell=3), fix=fix_at(at("run.ipynb", 2, 5, 2, 9, 3), Applicability.SAFE)
    )
    assert text("concise", results(TOKENIZER, in_cell)).split("\n") == [
        f"train.py:16:17: error LLM101 tokenizer-of-another-model: {TOKENIZER.message} [unsafe fix]",
        "run.ipynb:cell 3:2:5: warning LLM301 gradients-in-inference: wrong [fix]",
    ]


def test_grouped_names_each_file_once() -> None:
    first, second = diagnostic(at("a.py", 1, 1, 1, 2)), diagnostic(at("a.py", 12, 1, 12, 2))
    other = diagnostic(at("b.py", 1, 1, 1, 2), severity=Severity.ERROR)
    assert (
        text("grouped", results(first, second, other))
        == """\
a.py:
  1:1  warning     LLM301 gradients-in-inference: wrong
  12:1 warning     LLM301 gradients-in-inference: wrong

b.py:
  1:1 error       LLM301 gradients-in-inference: wrong
"""
    )


def test_json_carries_every_field() -> None:
    (found,) = json.loads(text("json", results(TOKENIZER)))
    assert list(found) == [
        "code",
        "name",
        "severity",
        "message",
        "filename",
        "cell",
        "location",
        "end_location",
        "fix",
        "related",
        "url",
    ]
    assert found["filename"] == "train.py"
    assert found["cell"] is None
    assert found["location"] == {"row": 16, "column": 17}
    assert found["end_location"] == {"row": 16, "column": 71}
    assert found["url"] is None
    assert found["fix"] == {
        "applicability": "unsafe",
        "message": "load the other tokenizer",
        "edits": [
            {
                "filename": "train.py",
                "cell": None,
                "location": {"row": 16, "column": 17},
                "end_location": {"row": 16, "column": 71},
                "content": '"b"',
            }
        ],
    }
    assert found["related"][1] == {
        "filename": "train.py",
        "cell": None,
        "location": {"row": 20, "column": 15},
        "end_location": {"row": 20, "column": 59},
        "message": "meets the model here",
    }


def test_the_address_of_a_rule_comes_from_one_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llm_lsp, "RULE_PAGES", "https://rules.example/")
    (found,) = json.loads(text("json", results(TOKENIZER)))
    assert found["url"] == "https://rules.example/tokenizer-of-another-model"
    (run,) = json.loads(text("sarif", results(TOKENIZER)))["runs"]
    assert run["tool"]["driver"]["rules"][0]["helpUri"] == "https://rules.example/tokenizer-of-another-model"


def test_json_lines_are_the_objects_of_json() -> None:
    given = results(TOKENIZER, diagnostic(at("b.py", 1, 1, 1, 2)))
    assert [json.loads(line) for line in text("json-lines", given).split("\n")] == json.loads(text("json", given))


def test_nothing_found_is_an_empty_array_and_an_empty_text() -> None:
    assert json.loads(text("json", results())) == []
    assert json.loads(text("gitlab", results())) == []
    for name in ("json-lines", "github", "full", "concise", "grouped"):
        assert text(name, results()) == ""


def test_github_escapes_what_would_end_a_property() -> None:
    given = diagnostic(at("a,b:100%.py", 3, 5, 3, 9), message="50%: one,\ntwo", severity=Severity.INFORMATION)
    assert text("github", results(given)) == (
        "::notice title=llm-lint (LLM301 gradients-in-inference),file=a%2Cb%3A100%25.py,line=3,endLine=3,col=5,"
        "endColumn=9::a,b:100%25.py:3:5: LLM301 50%25: one,%0Atwo"
    )


def test_github_gets_no_line_for_a_cell() -> None:
    shown = text("github", results(diagnostic(at("run.ipynb", 2, 5, 2, 9, cell=3))))
    assert "line=" not in shown
    assert shown.endswith("::run.ipynb:cell 3:2:5: LLM301 wrong")


def test_github_gets_no_columns_for_several_lines() -> None:
    shown = text("github", results(diagnostic(at("a.py", 2, 5, 4, 9))))
    assert "line=2,endLine=4:" in shown


def gitlab(given: Results) -> list[dict[str, Any]]:
    issues: list[dict[str, Any]] = json.loads(text("gitlab", given))
    return issues


def test_gitlab_has_the_fields_that_its_report_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    (issue,) = gitlab(results(TOKENIZER, texts={"train.py": TRAIN}))
    assert issue["check_name"] == "tokenizer-of-another-model"
    assert issue["severity"] == "major"
    assert issue["description"].startswith("LLM101 tokenizer-of-another-model: tokenizer `distilbert")
    assert issue["location"] == {
        "path": "train.py",
        "positions": {"begin": {"line": 16, "column": 17}, "end": {"line": 16, "column": 71}},
    }
    assert len(issue["fingerprint"]) == 32


def test_gitlab_paths_count_from_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_PROJECT_DIR", "/")
    (issue,) = gitlab(results(TOKENIZER, texts={"train.py": TRAIN}))
    assert issue["location"]["path"] == "project/train.py"


def test_gitlab_fingerprints_are_unique_and_survive_moved_lines() -> None:
    def marks(rows: tuple[int, ...], lines: str) -> list[str]:
        given = [diagnostic(at("a.py", row, 1, row, 2)) for row in rows]
        other = diagnostic(at("b.py", 1, 1, 1, 2))
        return [
            issue["fingerprint"] for issue in gitlab(results(*given, other, texts={"a.py": lines, "b.py": "x()\n"}))
        ]

    before = marks((1, 2), "x()\nx()\n")
    assert len(set(before)) == 3
    assert marks((3, 4), "\nimport os\nx()\n    x( )\n") == before
    assert marks((1, 2), "y()\nx()\n")[0] not in before


def test_junit_has_one_failed_test_for_each_problem() -> None:
    root = junit(results(TOKENIZER, diagnostic(at("b.py", 1, 1, 1, 2))))
    assert root.tag == "testsuites"
    assert root.attrib == {"name": "llm-lint", "tests": "2", "failures": "2", "errors": "0"}
    assert [suite.get("name") for suite in root] == ["train.py", "b.py"]
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("type") == "error"
    assert (failure.text or "").startswith("train.py:16:17: tokenizer")


def test_junit_without_problems_has_a_test_that_passed() -> None:
    root = junit(results())
    assert root.get("tests") == "1"
    assert root.find("testsuite/testcase") is not None
    assert root.find(".//failure") is None


def test_junit_survives_characters_that_xml_has_no_way_to_write() -> None:
    given = diagnostic(at("a<&\x00\udcff.py", 1, 1, 1, 2), message="\x1b]]> \ufffe é")
    assert text("junit", results(given)).isascii()
    failure = junit(results(given)).find(".//failure")
    assert failure is not None
    assert failure.get("message") == r"\x1b]]> \ufffe é"


def test_the_summary_counts_and_names_the_way_out() -> None:
    safe = diagnostic(at("a.py", 1, 1, 1, 2), fix=fix_at(at("a.py", 1, 1, 1, 2), Applicability.SAFE))
    information = diagnostic(at("a.py", 1, 1, 1, 2), severity=Severity.INFORMATION)
    said = {
        summary(results(TOKENIZER)): "Found 1 problem (1 error) in 3 files; 1 can be fixed with --unsafe-fixes.",
        summary(
            results(safe, safe, information, TOKENIZER)
        ): "Found 4 problems (1 error, 2 warnings, 1 information) in "
        "3 files; 2 can be fixed with --fix, 1 more with --unsafe-fixes.",
        summary(results(safe)): "Found 1 problem (1 warning) in 3 files; 1 can be fixed with --fix.",
        summary(results(safe, TOKENIZER, unsafe_fixes=True)): "Found 2 problems (1 error, 1 warning) in 3 files; "
        "2 can be fixed with --fix --unsafe-fixes.",
        summary(results(information)): "Found 1 problem (1 information) in 3 files.",
        summary(results()): "No problems in 3 files.",
        summary(results(fixed=1)): "Fixed 1 problem; no problems left in 3 files.",
        summary(results(information, fixed=1200)): "Fixed 1,200 problems; found 1 problem (1 information) in 3 files.",
    }
    for said_now, expected in said.items():
        assert said_now == expected


def test_statistics_begin_with_the_most_frequent() -> None:
    given = results(TOKENIZER, *[diagnostic(at("a.py", row, 1, row, 2)) for row in range(1, 11)])
    assert statistics(given, Paint(colour=False)) == [
        "10 LLM301 gradients-in-inference",
        " 1 LLM101 tokenizer-of-another-model",
    ]
