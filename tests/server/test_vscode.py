"""VS Code's own `initialize`, recorded, and what the server makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from cattrs import Converter
from lsprotocol import converters, types

from llm_lsp.server.capabilities import ClientCapabilities
from tests.server.programs import FAULTY
from tests.server.wire import VSCODE, Wire


def test_its_abilities_are_understood() -> None:
    converter: Converter = converters.get_converter()
    params = converter.structure(VSCODE, types.InitializeParams)
    assert ClientCapabilities.of(params.capabilities, "utf-16") == ClientCapabilities(
        pulls_diagnostics=True,
        refreshes_diagnostics=True,
        shows_related=True,
        shows_rule_pages=True,
        fades_what_is_unnecessary=True,
        changes_documents=True,
        takes_code_actions=True,
        resolves_edits=True,
        shows_markdown=True,
        shows_documents=True,
        refreshes_code_lenses=True,
        refreshes_inlay_hints=True,
        registers_watchers=True,
        shows_progress=True,
        takes_probe_results=True,
        encoding="utf-16",
    )


def test_it_is_served(connect: Callable[..., Wire], workspace: Path) -> None:
    wire = connect("--stdio")
    answered = wire.request("initialize", {**VSCODE, "rootUri": workspace.as_uri()})
    assert answered["serverInfo"]["name"] == "llm-lint"
    wire.notify("initialized", {})
    (registration,) = wire.wait_for_request("client/registerCapability")["registrations"]
    assert registration["method"] == "workspace/didChangeWatchedFiles"
    watched = {watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]}
    assert watched >= {"**/pyproject.toml", "**/llm-lint.toml", "**/*.py", "**/config.json"}
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY)
    report = wire.request("textDocument/diagnostic", {"identifier": "llm-lint", "textDocument": {"uri": uri}})
    assert [each["code"] for each in report["items"]] == ["LLM101"]
    settings = workspace / "llm-lint.toml"
    settings.write_text('ignore = ["LLM101"]\n', encoding="utf-8")
    event = {"changes": [{"uri": settings.as_uri(), "type": 1}]}
    wire.notify("workspace/didChangeWatchedFiles", event)
    wire.wait_for_request("workspace/diagnostic/refresh")
    assert wire.pull(uri, report["resultId"])["items"] == []
    assert wire.shut_down() == 0
