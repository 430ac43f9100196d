"""How many fixes become one new file, and how that reaches the disk."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from llm_lsp.diagnostic import Applicability, Diagnostic, Edit, Fix, Location, Position, Range, Severity
from llm_lsp.fixes import FixesDoNotSettle, NotWritten, apply, fix, realise, unified_diff, write
from llm_lsp.rule import (
    Change,
    Decorate,
    EnsureImport,
    InsertAfter,
    InsertBefore,
    Repair,
    Replace,
    SetArgument,
    WrapFollowing,
)
from llm_lsp.source import Source

SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE


def place(source: Source, words: str, *, nth: int = 1) -> Range:
    start = -1
    for _ in range(nth):
        start = source.text.index(words, start + 1)

    def position(offset: int) -> Position:
        return Position(source.text.count("\n", 0, offset) + 1, offset - source.text.rfind("\n", 0, offset))

    return Range(position(start), position(start + len(words)))


def diagnostic(
    source: Source, *changes: Change, code: str = "LLM999", applicability: Applicability = SAFE
) -> Diagnostic:
    fix = realise(source, Repair("repair", changes, applicability))
    assert fix is not None
    return Diagnostic(code, "a-rule", Severity.ERROR, "wrong", fix.edits[0].location, fix=fix)


def python(text: str) -> Source:
    return Source.from_text("train.py", text)


def after(source: Source, *diagnostics: Diagnostic) -> str:
    return apply(source, diagnostics, unsafe=True).data.decode()


# ---------------------------------------------------------------- one pass


def test_fixes_apart_are_applied_together() -> None:
    source = python("a()\nb()\n")
    one = diagnostic(source, Replace(place(source, "a"), "c"))
    other = diagnostic(source, SetArgument(place(source, "b()"), "k", "1"))
    assert after(source, other, one) == "c()\nb(k=1)\n"


def test_an_overlapping_fix_waits_and_the_first_place_then_the_code_decides() -> None:
    source = python("f(a, b)\n")
    whole = diagnostic(source, Replace(place(source, "f(a, b)"), "g()"), code="LLM303")
    part = diagnostic(source, Replace(place(source, "b"), "c"), code="LLM101")
    same = diagnostic(source, Replace(place(source, "f(a, b)"), "h()"), code="LLM302")
    assert after(source, part, whole, same) == "h()\n"
    assert apply(source, [part, whole, same], unsafe=True).diagnostics == (same,)


def test_two_insertions_at_one_place_wait_for_each_other() -> None:
    source = python("f(a)\n")
    one = diagnostic(source, SetArgument(place(source, "f(a)"), "k", "1"), code="LLM101")
    other = diagnostic(source, SetArgument(place(source, "f(a)"), "m", "2"), code="LLM102")
    assert after(source, other, one) == "f(a, k=1)\n"


def test_a_fix_is_applied_whole_or_not_at_all() -> None:
    source = python("a()\nb()\nc()\n")
    first = diagnostic(source, Replace(place(source, "b"), "x"), code="LLM101")
    second = diagnostic(source, Replace(place(source, "b()"), "y()"), Replace(place(source, "c"), "z"), code="LLM102")
    assert after(source, first, second) == "a()\nx()\nc()\n"


def test_the_same_import_of_two_fixes_is_inserted_once() -> None:
    source = python("import os\nfrom transformers import A\n\n\ndef f():\n    a()\n\n\ndef g():\n    b()\n")
    imports = (EnsureImport("torch"), EnsureImport("transformers", "set_seed"))
    one = diagnostic(source, *imports, Decorate(place(source, "a()"), "torch.no_grad()"))
    other = diagnostic(source, *imports, Decorate(place(source, "b()"), "torch.no_grad()"))
    assert after(source, one, other) == (
        "import os\nimport torch\nfrom transformers import A, set_seed\n\n\n"
        "@torch.no_grad()\ndef f():\n    a()\n\n\n@torch.no_grad()\ndef g():\n    b()\n"
    )


def test_the_closing_bracket_of_two_fixes_is_not_one() -> None:
    source = python("f(g(x for x in y))\n")
    one = diagnostic(source, SetArgument(place(source, "g(x for x in y)"), "k", "1"))
    other = Diagnostic("LLM999", "a-rule", Severity.ERROR, "wrong", one.location, fix=one.fix)
    assert after(source, one, other) == "f(g((x for x in y), k=1))\n"


def test_unsafe_fixes_are_applied_only_when_asked_for() -> None:
    source = python("a()\n")
    unsafe = diagnostic(source, Replace(place(source, "a"), "b"), applicability=UNSAFE)
    assert apply(source, [unsafe], unsafe=False).data == source.data
    assert apply(source, [unsafe], unsafe=True).data == b"b()\n"


def test_a_file_that_does_not_parse_is_not_changed() -> None:
    source = python("a()\nb(\n")
    assert apply(source, [diagnostic(source, Replace(place(source, "a"), "c"))], unsafe=True).data == source.data


def test_a_fix_that_also_edits_another_file_is_left_alone() -> None:
    source = python("a()\n")
    here, there = (Edit(Location(path, None, place(source, "a")), "b") for path in ("train.py", "other.py"))
    both = Diagnostic(
        "LLM999", "a-rule", Severity.ERROR, "wrong", here.location, fix=Fix("repair", SAFE, (here, there))
    )
    assert apply(source, [both], unsafe=True).data == source.data


# ---------------------------------------------------------------- passes


def replacing(words: dict[str, str], code: str = "LLM999") -> Callable[[Source], list[Diagnostic]]:
    def lint(source: Source) -> list[Diagnostic]:
        return [
            diagnostic(source, Replace(place(source, old), new), code=code)
            for old, new in words.items()
            if old in source.text
        ]

    return lint


def test_fixes_that_waited_are_applied_in_the_next_pass() -> None:
    def lint(source: Source) -> list[Diagnostic]:
        call = Range(Position(1, 1), Position(1, source.text.index("\n") + 1))
        return [
            diagnostic(source, SetArgument(call, name, "1"), code=f"LLM10{index}")
            for index, name in enumerate(("first", "second", "third"))
            if name not in source.text
        ]

    done = fix(python("f()\n"), lint, unsafe=False)
    assert done.source.text == "f(first=1, second=1, third=1)\n"
    assert done.applied == {"LLM100": 1, "LLM101": 1, "LLM102": 1}
    assert done.diagnostics == ()


def test_what_has_no_applicable_fix_remains() -> None:
    def lint(source: Source) -> list[Diagnostic]:
        return [diagnostic(source, Replace(place(source, "a"), "b"), applicability=UNSAFE)]

    source = python("a()\n")
    done = fix(source, lint, unsafe=False)
    assert (done.source, len(done.diagnostics), done.applied) == (source, 1, {})


def test_fixes_that_undo_each_other_are_an_error_that_names_them() -> None:
    there, back = replacing({"a": "b"}, "LLM101"), replacing({"b": "a"}, "LLM102")
    with pytest.raises(
        FixesDoNotSettle, match=r"train\.py: the fixes of LLM101 do not settle after 10 passes"
    ) as caught:
        fix(python("a()\n"), lambda source: there(source) + back(source), unsafe=False)
    assert caught.value.codes == ("LLM101",)


def test_a_chain_of_ten_passes_settles() -> None:
    letters = "abcdefghijk"
    steps = dict(pairwise(letters))
    assert fix(python("a\n"), replacing(steps), unsafe=False).source.text == "k\n"
    with pytest.raises(FixesDoNotSettle):
        fix(python("a\n"), replacing({**steps, "k": "l"}), unsafe=False)


def test_a_pass_whose_result_does_not_parse_is_dropped() -> None:
    source = python("a()\nb()\n")

    def lint(current: Source) -> list[Diagnostic]:
        edit = Edit(Location("train.py", None, place(current, "b()")), "b(")
        broken = Diagnostic("LLM102", "a-rule", Severity.ERROR, "wrong", edit.location, fix=Fix("x", SAFE, (edit,)))
        return [*replacing({"a": "c"})(current), broken]

    done = fix(source, lint, unsafe=False)
    assert (done.source, done.applied, len(done.diagnostics)) == (source, {}, 2)


# ---------------------------------------------------------------- the file


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (b"a()\r\nb()\r\n", b"import torch\r\n\r\na()\r\nc()\r\nb()\r\n"),
        (b"\xef\xbb\xbfa()\nb()", b"\xef\xbb\xbfimport torch\n\na()\nc()\nb()"),
        (
            "# coding: latin-1\né()\n".encode("latin-1"),
            "# coding: latin-1\nimport torch\n\né()\nc()\n".encode("latin-1"),
        ),
        (b"a()", b"import torch\n\na()\nc()"),
        (b"a()\rb()\r", b"import torch\r\ra()\rc()\rb()\r"),
    ],
)
def test_line_ends_encoding_mark_and_final_line_end_are_kept(before: bytes, expected: bytes) -> None:
    source = Source.from_bytes("train.py", before)
    first = source.range_of(source.tree.body[0])
    assert (
        apply(source, [diagnostic(source, EnsureImport("torch"), InsertAfter(first, "c()"))], unsafe=True).data
        == expected
    )


def test_a_character_that_the_encoding_lacks_leaves_the_file_alone() -> None:
    source = Source.from_bytes("train.py", b"# coding: latin-1\na('b')\n")
    assert apply(source, [diagnostic(source, Replace(place(source, "b"), "🙂"))], unsafe=True).data == source.data


# ---------------------------------------------------------------- notebooks


def notebook(*cells: str | list[str]) -> Source:
    """A markdown cell, then these code cells."""
    written: list[dict[str, object]] = [{"cell_type": "markdown", "metadata": {}, "source": "# Title"}]
    code: dict[str, object] = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    written += [{**code, "source": text} for text in cells]
    whole: dict[str, object] = {"cells": written, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return Source.from_bytes("train.ipynb", json.dumps(whole).encode())


def cells_after(source: Source, *changes: Change) -> list[str] | None:
    fix = realise(source, Repair("repair", changes, SAFE))
    if fix is None:
        return None
    cells = json.loads(source.with_edits(fix.edits))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def test_an_import_goes_into_the_first_cell_that_imports() -> None:
    source = notebook("%load_ext autoreload\nx = 1", "%matplotlib inline\nimport numpy\n", "import zlib", "model(x)")
    use = InsertBefore(place(source, "model(x)"), "torch.manual_seed(0)")
    assert cells_after(source, EnsureImport("torch"), use) == [
        "%load_ext autoreload\nx = 1",
        "%matplotlib inline\nimport numpy\nimport torch\n",
        "import zlib",
        "torch.manual_seed(0)\nmodel(x)",
    ]


def test_without_imports_it_goes_into_the_first_cell_with_code_below_the_magics() -> None:
    source = notebook("!pip install torch", "%%time\nx = 1", "model(x)")
    use = InsertAfter(place(source, "model(x)"), "y = 2")
    assert cells_after(source, EnsureImport("torch"), use) == [
        "!pip install torch",
        "%%time\nimport torch\nx = 1",
        "model(x)\ny = 2",
    ]


def test_an_edit_names_its_cell_counted_through_markdown_too() -> None:
    source = notebook("a()", "b()")
    found = diagnostic(source, InsertAfter(place(source, "b()"), "c()")).fix
    assert found is not None
    assert found.edits == (Edit(Location("train.ipynb", 3, Range(Position(1, 4), Position(1, 4))), "\nc()"),)


def test_statements_of_two_cells_are_not_wrapped_into_one_block() -> None:
    source = notebook("a()", "b()")
    assert cells_after(source, WrapFollowing(place(source, "a()"), "with x:")) is None
    assert cells_after(source, WrapFollowing(place(source, "b()"), "with x:")) == ["a()", "with x:\n    b()"]


def test_a_magic_among_the_statements_leaves_no_fix() -> None:
    source = notebook("def f():\n    a()\n    !ls\n    b()\n    c()\n")
    assert cells_after(source, WrapFollowing(place(source, "a()"), "with x:")) is None
    assert cells_after(source, WrapFollowing(place(source, "b()"), "with x:")) == [
        "def f():\n    a()\n    !ls\n    with x:\n        b()\n        c()\n"
    ]


def test_fixes_of_several_cells_are_applied_together() -> None:
    source = notebook(["import os\n", "a()\n"], "a()\n")
    both = [diagnostic(source, Replace(place(source, "a", nth=nth), "b")) for nth in (1, 2)]
    after = Source.from_bytes("train.ipynb", apply(source, both, unsafe=True).data)
    assert after.text == "import os\nb()\nb()\n"


# ---------------------------------------------------------------- the difference


def test_a_difference_can_be_read_by_patch() -> None:
    assert unified_diff(python("a()\nb()"), python("a()\nc()")) == (
        "--- train.py\n+++ train.py\n@@ -1,2 +1,2 @@\n a()\n"
        "-b()\n\\ No newline at end of file\n+c()\n\\ No newline at end of file\n"
    )
    assert unified_diff(python("a()\n"), python("a()\n")) == ""


def test_the_difference_of_a_notebook_names_the_cells_and_shows_magics_as_written() -> None:
    before, after = notebook("a()", "!ls\nb()\n"), notebook("a()", "!ls\nc()\n")
    assert unified_diff(before, after) == (
        "--- train.ipynb:cell 3\n+++ train.ipynb:cell 3\n@@ -1,2 +1,2 @@\n !ls\n-b()\n+c()\n"
    )


# ---------------------------------------------------------------- the disk


def leftovers(folder: Path, *known: str) -> Sequence[str]:
    return sorted(one.name for one in folder.iterdir() if one.name not in known)


def test_a_written_file_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    file.chmod(0o751)
    mode = stat.S_IMODE(file.stat().st_mode)
    write(file, b"old", b"new")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode), leftovers(tmp_path, "train.py")) == (b"new", mode, [])


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "train.py"
    target.write_bytes(b"old")
    link = tmp_path / "link.py"
    link.symlink_to(target)
    write(str(link), b"old", b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_read_only_file_is_not_written_and_the_message_names_it(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    file.chmod(0o444)
    with pytest.raises(NotWritten, match=r"train\.py: not written, it is read-only"):
        write(file, b"old", b"new")
    assert (file.read_bytes(), leftovers(tmp_path, "train.py")) == (b"old", [])


def test_what_an_editor_saved_in_the_meantime_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"newer")
    with pytest.raises(NotWritten, match="it has changed since it was read"):
        write(file, b"old", b"new")
    assert (file.read_bytes(), leftovers(tmp_path, "train.py")) == (b"newer", [])


@pytest.mark.skipif(sys.platform == "win32", reason="paths are shorter there")
def test_a_file_with_the_longest_name_is_written(tmp_path: Path) -> None:
    file = tmp_path / f"{'a' * 252}.py"
    file.write_bytes(b"old")
    write(file, b"old", b"new")
    assert file.read_bytes() == b"new"


def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(NotWritten, match=r"train\.py: not written, no space left on device"):
        write(file, b"old", b"new")
    assert (file.read_bytes(), leftovers(tmp_path, "train.py")) == (b"old", [])


def test_a_file_that_is_gone_is_not_made_anew(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="no such file"):
        write(tmp_path / "train.py", b"old", b"new")
    assert leftovers(tmp_path) == []
