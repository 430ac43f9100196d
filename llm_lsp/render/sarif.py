"""SARIF 2.1.0.

Plain dictionaries, checked against the published schema in the tests: of the typed libraries, `sarif-om` has no types
and no release since 2019, and `sarif-pydantic` costs 0.3 s and 10 MB of native code and lets misspelt fields pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from llm_lsp import __version__, rule_page
from llm_lsp.diagnostic import Diagnostic, Edit, Fix, Location, Range, Severity
from llm_lsp.render.fingerprint import fingerprints
from llm_lsp.render.paint import Paint
from llm_lsp.render.results import Results

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFORMATION: "note"}
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# The name that GitHub code scanning and others give to the root of the checkout.
_ROOT = "%SRCROOT%"


def render(results: Results, paint: Paint) -> Iterator[str]:
    del paint
    codes = sorted({diagnostic.code: diagnostic.name for diagnostic in results.diagnostics}.items())
    index = {code: number for number, (code, _) in enumerate(codes)}
    run = {
        "tool": {
            "driver": {
                "name": "llm-lint",
                "version": __version__,
                "rules": [_rule(code, name, results.explain(code)) for code, name in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The directory that llm-lint was started in."}}},
        "results": [
            _result(diagnostic, index[diagnostic.code], fingerprint)
            for diagnostic, fingerprint in zip(results.diagnostics, fingerprints(results, with_path=False), strict=True)
        ],
    }
    yield json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str, name: str, explanation: str) -> dict[str, Any]:
    first, _, _ = explanation.strip().partition("\n")
    rule: dict[str, Any] = {
        "id": code,
        "name": name,
        "shortDescription": {"text": first or name},
        "fullDescription": {"text": explanation.strip() or name},
        "help": {"text": explanation.strip() or name},
    }
    page = rule_page(name)
    return rule | {"helpUri": page} if page else rule


def _result(diagnostic: Diagnostic, rule: int, fingerprint: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": diagnostic.message},
        "locations": [_location(diagnostic.location)],
        "partialFingerprints": {"llmLintLine/v1": fingerprint},
    }
    if diagnostic.related:
        result["relatedLocations"] = [
            {"id": number, **_location(related.location), "message": {"text": related.message}}
            for number, related in enumerate(diagnostic.related, 1)
        ]
    if diagnostic.fix is not None and all(edit.location.cell is None for edit in diagnostic.fix.edits):
        result["fixes"] = [_fix(diagnostic.fix)]
    return result


def _location(location: Location) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(location.path)}
    if location.cell is None:
        return {"physicalLocation": physical | {"region": _region(location.range)}}
    # A region counts lines of the file; those of a cell are not lines of the notebook file.
    cell = f"cell {location.cell}, row {location.range.start.row}"
    return {"physicalLocation": physical, "logicalLocations": [{"name": cell, "kind": "cell"}]}


def _region(span: Range) -> dict[str, int]:
    return {
        "startLine": span.start.row,
        "startColumn": span.start.column,
        "endLine": span.end.row,
        "endColumn": span.end.column,
    }


def _artifact(path: str) -> dict[str, str]:
    # A lone surrogate stands for a byte of a file name that is no text.
    encoded = quote(path.encode("utf-8", "surrogateescape"), safe="/")
    if PureWindowsPath(path).is_absolute():
        return {"uri": f"file:///{quote(path, safe='/:')}"}
    if PurePosixPath(path).is_absolute():
        return {"uri": f"file://{encoded}"}
    return {"uri": encoded, "uriBaseId": _ROOT}


def _fix(fix: Fix) -> dict[str, Any]:
    changes: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        changes.setdefault(edit.location.path, []).append(edit)
    return {
        "description": {"text": fix.message},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(path),
                "replacements": [
                    {"deletedRegion": _region(edit.location.range), "insertedContent": {"text": edit.content}}
                    for edit in edits
                ],
            }
            for path, edits in changes.items()
        ],
    }
