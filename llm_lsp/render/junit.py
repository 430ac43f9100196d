"""JUnit XML: a test suite for each file with problems, a failed test for each problem."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.etree import ElementTree as ET

from llm_lsp.diagnostic import Diagnostic
from llm_lsp.render.paint import Paint, visible
from llm_lsp.render.results import Results, place


def render(results: Results, paint: Paint) -> Iterator[str]:
    del paint
    total = len(results.diagnostics)
    root = ET.Element("testsuites", name="llm-lint", tests=str(total or 1), failures=str(total), errors="0")
    for path, group in groupby(results.diagnostics, lambda diagnostic: diagnostic.location.path):
        _add_suite(root, path, list(group))
    if not total:
        # Several readers take a report without a test for a run that failed.
        suite = _suite(root, "llm-lint", tests=1, failures=0)
        ET.SubElement(suite, "testcase", name="no problems", classname="llm-lint", time="0")
    ET.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>'
    # Character references, so that the text is the same in whatever encoding a console or a file writes it.
    yield ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")


def _add_suite(root: ET.Element, path: str, diagnostics: list[Diagnostic]) -> None:
    suite = _suite(root, visible(path), tests=len(diagnostics), failures=len(diagnostics))
    for diagnostic in diagnostics:
        # XML 1.0 has no way to write most control characters, escaped or not.
        message = visible(diagnostic.message)
        test = ET.SubElement(suite, "testcase", name=f"{diagnostic.code} {diagnostic.name}", classname=visible(path))
        test.set("time", "0")
        failure = ET.SubElement(test, "failure", message=message, type=diagnostic.severity.value)
        failure.text = f"{visible(place(diagnostic.location))}: {message}"


def _suite(root: ET.Element, name: str, *, tests: int, failures: int) -> ET.Element:
    return ET.SubElement(
        root,
        "testsuite",
        name=name,
        tests=str(tests),
        failures=str(failures),
        errors="0",
        skipped="0",
        time="0",
    )
