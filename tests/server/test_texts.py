"""Texts as the client changes them, in whatever units it counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from llm_lsp.diagnostic import Position
from llm_lsp.server.documents import Documents
from llm_lsp.server.positions import Encoding, Lines
from llm_lsp.server.uris import key_of, path_of, uri_of

ENCODINGS = [Encoding.Utf8, Encoding.Utf16, Encoding.Utf32]
CHARACTERS = st.text(st.sampled_from("ab \n\r\f\u2028\u0085é̈😊\U0001f1e9"), max_size=30)


def units(text: str, encoding: Encoding) -> int:
    code = {Encoding.Utf8: "utf-8", Encoding.Utf16: "utf-16-le", Encoding.Utf32: "utf-32-le"}[encoding]
    width = {Encoding.Utf8: 1, Encoding.Utf16: 2, Encoding.Utf32: 4}[encoding]
    return len(text.encode(code)) // width


def client_position(text: str, offset: int, encoding: Encoding) -> types.Position:
    """Where an editor says that an offset is; one between CR and LF belongs to neither line and is moved before."""
    before = text[:offset]
    if before.endswith("\r") and text[offset : offset + 1] == "\n":
        before = before[:-1]
    plain = before.replace("\r\n", "\n").replace("\r", "\n")
    return types.Position(plain.count("\n"), units(plain.rpartition("\n")[2], encoding))


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=CHARACTERS, inserted=CHARACTERS, data=st.data())
def test_an_edit_changes_what_the_editor_means(
    encoding: Encoding, text: str, inserted: str, data: st.DataObject
) -> None:
    split = {index for index in range(1, len(text)) if text[index - 1 : index + 1] == "\r\n"}
    offsets = st.sampled_from([offset for offset in range(len(text) + 1) if offset not in split])
    start, end = sorted((data.draw(offsets), data.draw(offsets)))
    change = types.Range(client_position(text, start, encoding), client_position(text, end, encoding))
    assert Lines(text).spliced(change, inserted, encoding) == text[:start] + inserted + text[end:]


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=CHARACTERS, data=st.data())
def test_a_position_comes_back_as_it_went(encoding: Encoding, text: str, data: st.DataObject) -> None:
    lines = Lines(text)
    row = data.draw(st.integers(1, len(lines.starts)))
    column = data.draw(st.integers(1, len(lines.line(row - 1)) + 1))
    here = Position(row, column)
    assert lines.from_client(lines.to_client(here, encoding), encoding) == here


@pytest.mark.parametrize(
    ("encoding", "character"), [(Encoding.Utf8, 9 + 3), (Encoding.Utf16, 9 + 1), (Encoding.Utf32, 9)]
)
def test_an_emoji_is_as_wide_as_the_client_says(encoding: Encoding, character: int) -> None:
    assert Lines("x = '😊' + y\n").to_client(Position(1, 10), encoding) == types.Position(0, character)


@pytest.mark.parametrize(
    ("line", "character", "expected"),
    [(0, 99, "onex\ntwo"), (9, 0, "one\ntwox"), (1, 3, "one\ntwox"), (1, 99, "one\ntwox")],
)
def test_what_lies_outside_is_moved_inside(line: int, character: int, expected: str) -> None:
    here = types.Position(line, character)
    assert Lines("one\ntwo").spliced(types.Range(here, here), "x", Encoding.Utf16) == expected


def test_a_range_that_runs_backwards_is_turned_round() -> None:
    backwards = types.Range(types.Position(0, 3), types.Position(0, 1))
    assert Lines("abcd").spliced(backwards, "x", Encoding.Utf16) == "axd"


def test_a_form_feed_ends_no_line() -> None:
    assert Lines("a\fb\u2028c\nd").starts == [0, 6]


def test_changes_of_one_message_follow_each_other() -> None:
    documents = Documents()
    documents.open(types.TextDocumentItem("file:///a.py", "python", 1, "ab\n"))
    at = types.Position(0, 1)
    inserted = types.TextDocumentContentChangePartial(types.Range(at, at), "1\n2")
    after = types.Position(1, 1)
    second = types.TextDocumentContentChangePartial(types.Range(after, after), "3")
    identifier = types.VersionedTextDocumentIdentifier(version=2, uri="file:///a.py")
    changed = documents.change(identifier, [inserted, second])
    assert changed is not None
    assert (changed.text, changed.version) == ("a1\n23b\n", 2)


def test_a_change_without_a_range_is_the_whole_text() -> None:
    documents = Documents()
    documents.open(types.TextDocumentItem("file:///a.py", "python", 1, "ab\n"))
    whole = types.TextDocumentContentChangeWholeDocument("new")
    changed = documents.change(types.VersionedTextDocumentIdentifier(version=2, uri="file:///a.py"), [whole])
    assert changed is not None
    assert changed.text == "new"


def test_a_text_that_is_not_open_is_not_changed() -> None:
    identifier = types.VersionedTextDocumentIdentifier(version=2, uri="file:///a.py")
    assert Documents().change(identifier, []) is None


@pytest.mark.parametrize(
    "name", ["a b.py", "50%.py", "100%25.py", "😊.py", "semi;colon.py", "ha#sh.py", "q?.py", "é.py"]
)
def test_every_name_of_a_file_survives_its_uri(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///c%3A/a.py", "file:///C:/a.py"),
        ("file:///a%20b.py", "file:///a b.py"),
        ("file:///a%3bb.py", "file:///a%3Bb.py"),
    ],
)
def test_a_document_has_one_key_however_its_uri_is_written(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    "uri",
    ["untitled:Untitled-1", "vscode-notebook-cell:/a.ipynb#W0", "git:/a.py?x", "", "file://[a", "file:///a%00.py"],
)
def test_other_schemes_name_no_file(uri: str) -> None:
    assert path_of(uri) is None


def test_semicolons_need_no_quotes() -> None:
    path = path_of("file:///folder/a;b.py")
    assert path is not None
    assert path.name == "a;b.py"
