"""Clients that make mistakes: each costs what it must, and the session goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.server.programs import FAULTY
from tests.server.wire import PUSHED, Wire, range_

Connect = Callable[..., Wire]


def test_edits_outside_the_text_are_moved_inside(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start(PUSHED)
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY)
    assert wire.pushed(uri, 1)
    beyond = range_((999, 999), (1_999, 0))
    wire.change(uri, 2, {"range": beyond, "text": "# the end\n"}, {"range": range_((0, 999), (0, 999)), "text": "  #"})
    (found,) = wire.pushed(uri, 2)
    assert found["range"]["start"] == {"line": 3, "character": 12}
    wire.change(uri, 3, {"range": range_((3, 0), (999, 0)), "text": ""})
    assert wire.pushed(uri, 3) == []


def test_a_version_that_is_not_newer_is_followed_all_the_same(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start(PUSHED)
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, FAULTY, version=5)
    assert wire.pushed(uri, 5)
    wire.change(uri, 3, {"text": "x = 1\n"})
    assert wire.pushed(uri, 3) == []


def test_texts_that_are_not_open_are_neither_changed_nor_closed(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start()
    uri = (workspace / "a.py").as_uri()
    wire.change(uri, 2, {"text": FAULTY})
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    wire.notify("notebookDocument/didClose", {"notebookDocument": {"uri": uri}, "cellTextDocuments": []})
    assert wire.pull(uri)["items"] == []
    where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}}
    assert wire.request("textDocument/hover", where) is None
    assert wire.request("textDocument/completion", where) is None
    assert wire.request("textDocument/codeLens", {"textDocument": {"uri": uri}}) == []
    assert wire.actions(uri, [], range_((0, 0), (0, 0))) == []
    assert wire.shut_down() == 0


def test_a_text_that_is_opened_twice_is_the_second_one(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start()
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, "x = 1\n")
    wire.open(uri, FAULTY)
    assert [each["code"] for each in wire.pull(uri)["items"]] == ["LLM101"]


def test_uris_are_the_same_text_however_they_are_quoted(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start()
    quoted = (workspace / "a b😊%.py").as_uri()
    wire.open(quoted, FAULTY)
    unquoted = quoted.replace("%20", " ")
    assert [each["code"] for each in wire.pull(unquoted)["items"]] == ["LLM101"]


def test_a_text_with_every_kind_of_character_is_followed(connect: Connect, workspace: Path) -> None:
    wire = connect()
    wire.start({**PUSHED, "general": {"positionEncodings": ["utf-16"]}})
    uri = (workspace / "a.py").as_uri()
    wire.open(uri, "# e\u0301 \U0001f468\u200d\U0001f469 \f\u2028 \x85\r\n" + FAULTY)
    assert [each["range"]["start"]["line"] for each in wire.pushed(uri, 1)] == [4]
    wire.change(uri, 2, {"range": range_((0, 5), (0, 7)), "text": "\ud83d\ude0a\n#"})
    assert [each["range"]["start"]["line"] for each in wire.pushed(uri, 2)] == [5]


def test_rules_that_can_not_be_read_are_told_of_once(workspace: Path) -> None:
    metadata = workspace.parent / "pack" / "broken_pack-1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "entry_points.txt").write_text("[llm_lsp.rules]\nbroken = broken_pack\n", encoding="utf-8")
    wire = Wire(workspace, environment={**os.environ, "PYTHONPATH": str(metadata.parent)})
    try:
        wire.start()
        assert "broken_pack" in wire.wait_for("window/showMessage")["message"]
        uri = (workspace / "a.py").as_uri()
        wire.open(uri, FAULTY)
        assert wire.pull(uri)["items"] == []
        assert wire.shut_down() == 0
    finally:
        wire.close()
