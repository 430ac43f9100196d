"""Notebooks: the cells are one module, a report lands in its cell, an edit changes that cell's source and no other byte."""

from __future__ import annotations

import ast
import json
import re
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_lsp.diagnostic import Edit, Location, Position, Range
from llm_lsp.source import EditError, Source

Json: TypeAlias = Any
"""What `json` reads and writes."""


def code(source: Json, count: int | None = None, tags: list[str] | None = None) -> dict[str, Any]:
    metadata = {"tags": tags} if tags else {}
    return {"cell_type": "code", "execution_count": count, "metadata": metadata, "outputs": [], "source": source}


def markdown(source: Json) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def notebook(*cells: dict[str, Any], **top: Json) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **top}


def read(*sources: Json, **top: Json) -> Source:
    cells: list[dict[str, Any]] = [source if isinstance(source, dict) else code(source) for source in sources]
    return Source.from_bytes("train.ipynb", json.dumps(notebook(*cells, **top), indent=1).encode())


def edit(cell: int | None, row: int, column: int, content: str, end_column: int | None = None) -> Edit:
    place = Range(Position(row, column), Position(row, end_column or column))
    return Edit(Location("train.ipynb", cell, place), content)


def python(source: Source) -> str:
    assert source.problems == ()
    return ast.unparse(source.tree)


# ---------------------------------------------------------------- cells


def test_code_cells_are_one_module_in_file_order_and_all_cells_are_counted() -> None:
    source = read(markdown("# x ="), "a = 1\nb = 2", {"cell_type": "raw", "source": "("}, ["c = 3\n", "d = 4\n"])
    assert source.text == "a = 1\nb = 2\nc = 3\nd = 4\n"
    assert [(cell.number, cell.first_row, cell.last_row) for cell in source.cells] == [(2, 1, 2), (4, 3, 4)]
    assert source.is_notebook
    assert python(source) == "a = 1\nb = 2\nc = 3\nd = 4"


def test_a_place_is_told_in_its_cell() -> None:
    source = read("a = 1\n", markdown("text"), "b = 2\nc = 3")
    assert source.locate(source.range_of(source.tree.body[2])) == Location(
        "train.ipynb", 3, Range(Position(2, 1), Position(2, 6))
    )
    across = source.locate(Range(Position(1, 1), Position(3, 1)))
    assert (across.cell, across.range.end) == (1, Position(2, 1))
    assert source.below(1) == Location("train.ipynb", 1, Range(Position(2, 1), Position(2, 1)))


def test_worksheets_of_the_third_format_are_cells_too() -> None:
    cells = [
        {"cell_type": "heading", "level": 1, "source": "x"},
        {"cell_type": "code", "language": "python", "input": ["a = 1\n", "b = 2"], "prompt_number": 3, "outputs": []},
    ]
    more: list[dict[str, Any]] = [
        {"cell_type": "code", "language": "python", "input": "c = 3", "prompt_number": 4, "outputs": []}
    ]
    data = json.dumps({"worksheets": [{"cells": cells}, {"cells": more}], "nbformat": 3, "metadata": {}}).encode()
    source = Source.from_bytes("old.ipynb", data)
    assert python(source) == "a = 1\nb = 2\nc = 3"
    assert [(cell.number, cell.execution_count) for cell in source.cells] == [(2, 3), (3, 4)]
    assert source.with_edits([edit(2, 2, 5, "9", 6)]) == data.replace(b"b = 2", b"b = 9")


@pytest.mark.parametrize(
    ("counts", "in_order"),
    [([1, 2, 3], True), ([None, None], True), ([2, None, 7], True), ([2, 1], False), ([3, None, 3], False)],
)
def test_execution_counts_that_contradict_the_file_order_are_seen(counts: list[int | None], *, in_order: bool) -> None:
    assert read(*(code("x = 1", count) for count in counts)).executed_in_order is in_order


def test_cells_with_parameters_are_told() -> None:
    source = read("a = 1", code("b = 2\nc = 3", tags=["x", "parameters"]), "d = 4")
    assert source.parameter_rows == ((2, 3),)


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"language": "R", "name": "ir"}, "language_info": {"name": "R"}},
        {"kernelspec": {"language": "julia", "name": "julia-1.9"}},
    ],
)
def test_a_notebook_in_another_language_is_left_alone(metadata: dict[str, Any]) -> None:
    source = read("x <- (", metadata=metadata)
    assert (source.problems, source.cells, source.text) == ((), (), "")


def test_a_python_notebook_says_so_in_several_ways() -> None:
    for metadata in ({"language_info": {"name": "python"}}, {"kernelspec": {"name": "x", "language": "Python"}}, {}):
        assert python(read("x = 1", metadata=metadata)) == "x = 1"


# ---------------------------------------------------------------- broken notebooks


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("", 1),
        ("{", 1),
        ("[]", 1),
        ("{}", 1),
        ('{\n "cells": {}\n}', 2),
        ('{\n "cells": [\n  1\n ]\n}', 3),
        ('{\n "cells": [\n  {"cell_type": "code",\n   "source": "x}\n ]\n}', 4),
        ('{\n "cells": []\n}\n}', 4),
        ('<<<<<<< HEAD\n{"cells": []}', 1),
        ('{\n "cells": [],\n}', 3),
    ],
)
def test_a_broken_notebook_is_one_problem_that_names_the_row(text: str, row: int) -> None:
    source = Source.from_bytes("train.ipynb", text.encode())
    assert [(problem.code, problem.range.start.row) for problem in source.problems] == [("LLM000", row)]
    assert source.tree.body == []
    assert source.locate(source.problems[0].range).cell is None


def test_a_notebook_that_is_not_utf_8_is_one_problem() -> None:
    source = Source.from_bytes("train.ipynb", b'{\n"cells": "\xe9"}')
    assert [(problem.code, problem.range.start.row) for problem in source.problems] == [("LLM000", 2)]
    assert "0xe9" in source.problems[0].message


def test_json_nested_too_deeply_is_one_problem() -> None:
    source = Source.from_bytes("train.ipynb", b'{"cells": [], "metadata": ' + b"[" * 200_000)
    assert [problem.code for problem in source.problems] == ["LLM002"]


@pytest.mark.parametrize(
    "cell",
    [
        {"cell_type": "code"},
        {"cell_type": "code", "source": None},
        {"cell_type": "code", "source": [1, 2]},
        {"source": "x = ("},
        {"cell_type": 3, "source": "x = ("},
        {"cell_type": "code", "source": "", "metadata": [], "execution_count": "3"},
        {"cell_type": "code", "source": [], "metadata": {"tags": "parameters"}, "execution_count": True},
    ],
)
def test_a_cell_without_what_a_cell_has_is_an_empty_one(cell: dict[str, Any]) -> None:
    source = read(cell, "x = 1")
    assert python(source) == "x = 1"
    assert source.executed_in_order
    assert source.parameter_rows == ()


def test_numbers_of_any_length_may_stand_in_outputs() -> None:
    data = json.dumps(notebook(code("a = 1", 1), code("b = 2", 2))).replace(
        '"outputs": []', f'"outputs": [{"9" * 5000}]'
    )
    source = Source.from_bytes("train.ipynb", data.encode())
    assert python(source) == "a = 1\nb = 2"
    assert [cell.execution_count for cell in source.cells] == [1, 2]


def test_outputs_do_not_count_for_the_size_limit_but_all_that_is_too_much_does() -> None:
    big = code("x = 1")
    big["outputs"] = [{"data": {"image/png": "A" * 3_000}}]
    data = json.dumps(notebook(big)).encode()
    assert Source.from_bytes("train.ipynb", data, max_size=100).problems == ()
    assert [p.code for p in Source.from_bytes("train.ipynb", data, max_size=10).problems] == ["LLM002"]
    assert [p.code for p in Source.from_bytes("train.ipynb", data, max_size=4).problems] == ["LLM002"]


def test_a_cell_that_is_broken_masks_no_other() -> None:
    source = read("a = 1", "b = (", "c = 3", 'd = """', "e = 5", "if x:", "    f = 6", "g = 7")
    code_ = ast.unparse(source.tree)
    for line in ("a = 1", "b = __unknown__()", "c = 3", "e = 5", "f = 6", "g = 7"):
        assert line in code_.splitlines()
    assert [source.locate(problem.range).cell for problem in source.problems] == [2, 4, 6]


def test_what_one_cell_opens_and_another_closes_is_broken_in_both() -> None:
    source = read("a = '''", "'''", "b = 1 \\", "c = 2")
    assert {source.locate(problem.range).cell for problem in source.problems} == {1, 2, 3}
    assert "c = 2" in ast.unparse(source.tree)


# ---------------------------------------------------------------- magics


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("!nvidia-smi | grep 'x\nx = 1", "pass\nx = 1"),
        ("!!ls\n?x\nx?\nx.y??\n%timeit?\n", "pass\n" * 5),
        ('files = !ls "it\'s"\nx = 1', "files = __unknown__\nx = 1"),
        ("a.b, c[0] = %sql select (", "a.b, c[0] = __unknown__()"),
        ("%run other.py", "__unknown__()"),
        ("%pip install x\n!ls \\\n  -l (\nx = 1", "pass\npass\n\nx = 1"),
        ("if x:\n    !ls\n    %cd ..\nelse:\n    y = 1", "if x:\n    pass\n    pass\nelse:\n    y = 1"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n\n%%capture out --no-stderr\n!ls\nx = 1", "\n\n\npass\nx = 1"),
        ("%%timeit -n 1\nx = 1", "\nx = 1"),
        ("%%bash\nfor x in (\nit's", "\n\n"),
        ("%%html", ""),
        ("%time x = f(1)", "if 1: x = f(1)"),
        ("%timeit -n 10 -r3 f(1)", "if 1:             f(1)"),
        ("%time for x in y: z", "__unknown__()"),
        ("%time !ls", "pass"),
        ("x = (1 +\n%s\n)", None),
        ("x = '''\n!ls\n%%time\n?\n'''", "x = '''\n!ls\n%%time\n?\n'''"),
        ("x = a != b\ny = 5 %b\nz = '?'\nw = x[\n  1]", "x = a != b\ny = 5 %b\nz = '?'\nw = x[\n  1]"),
        ("x = f(\n    a,\n    !b\n)", None),
        ("plt.plot(x);", "plt.plot(x);"),
        ("await f()\nasync for x in y:\n    await z", "await f()\nasync for x in y:\n    await z"),
        ("/f x\n,f a b\n;f a", "__unknown__()\n__unknown__()\n__unknown__()"),
        ("pip install transformers\nx = 1", "pass\nx = 1"),
        ("# why?\nx = 1  # really?", "# why?\nx = 1  # really?"),
    ],
)
def test_magics_become_python_row_by_row(cell: str, expected: str | None) -> None:
    source = read(cell, "last = 1")
    if expected is None:
        assert source.problems
        return
    assert source.text.removesuffix("last = 1\n").rstrip("\n") == expected.rstrip("\n")
    assert source.problems == ()
    assert source.locate(source.range_of(source.tree.body[-1])).range.start == Position(1, 1)


def test_what_stands_behind_a_timing_magic_keeps_its_column() -> None:
    source = read("%time y = model(größe)")
    call = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Call))
    assert source.segment(source.range_of(call)) == "model(größe)"
    assert source.range_of(call).start == Position(1, 11)


def test_only_magics_that_may_do_anything_leave_what_is_absent_unknown() -> None:
    source = read("%matplotlib inline", "%run other.py\nx = 1", "%%sql\nselect", "%%bash\nls", "y = !ls")
    assert source.masked == ((2, 2), (4, 5))
    assert source.magic_rows == {1, 2, 4, 5, 6, 7, 8}


def test_a_cell_that_is_indented_as_a_whole_is_read_as_ipython_reads_it() -> None:
    source = read("a = 1", "    b = 2\n    if b:\n        c = 3\n\n", "d = 4")
    assert python(source) == "a = 1\nb = 2\nif b:\n    c = 3\nd = 4"
    assert source.locate(source.range_of(source.tree.body[1])).range == Range(Position(1, 5), Position(1, 10))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('!pip install a==1 "b>=2"', ("a==1", "b>=2")),
        ("%pip install -q -U 'c[d]>=1,<2' e", ("c[d]>=1,<2", "e")),
        ("!pip3 install f && pip install g; echo h", ("f", "g")),
        ("!python -m pip install i", ("i",)),
        ("!{sys.executable} -m pip install i", ("i",)),
        ("!uv pip install j | tail -1", ("j",)),
        ("!pip install k>=1", ("k",)),
        ("!pip install -r requirements.txt --index-url simple l  # m", ("l",)),
        ("!pip install git+https://example.org/n.git ./o $p {q} -e .", ()),
        ("!pip install 'open", ()),
        ("!pip uninstall r", ()),
        ("!apt install s", ()),
        ("pip install t==2", ("t==2",)),
        ("%%bash\npip install u==3\nls", ("u==3",)),
        ("%%time\n!pip install v", ("v",)),
        ("x = 'pip install w'", ()),
    ],
)
def test_pip_lines_say_what_is_installed(line: str, expected: tuple[str, ...]) -> None:
    assert read(line).installs == expected


# ---------------------------------------------------------------- edits


def raw(*sources: Json, **style: Json) -> bytes:
    return json.dumps(notebook(*(code(source) for source in sources)), **style).encode()


@pytest.mark.parametrize("style", [{}, {"indent": 1}, {"indent": 4}, {"indent": "\t"}, {"separators": (",", ":")}])
@pytest.mark.parametrize("is_list", [True, False])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_an_edit_gives_the_bytes_that_the_same_writer_had_written(
    style: dict[str, Any], *, is_list: bool, is_ascii: bool
) -> None:
    def written(text: str) -> bytes:
        cells = ["x = 1", text, "é = 'é\N{HUGGING FACE}'\ny = 2\n"]
        return raw(
            *(cell.splitlines(keepends=True) if is_list else cell for cell in cells), ensure_ascii=is_ascii, **style
        )

    source = Source.from_bytes("train.ipynb", written("a = 'é'\nb = 'ü'\nc = 3"))
    edits = [edit(2, 1, 6, "è", 7), edit(2, 2, 1, "import ö\n"), Edit(source.below(4), "d = 'ß'\n")]
    assert source.with_edits(edits) == written("a = 'è'\nimport ö\nb = 'ü'\nc = 3\nd = 'ß'")


def test_escapes_of_an_unusual_writer_stay_where_nothing_changed() -> None:
    data = rb'{"cells":[{"cell_type":"code","source":"a = \u003cb\/\u0041\nc = 1\ud83e\udd17"}]}'
    source = Source.from_bytes("train.ipynb", data)
    assert source.with_edits([edit(1, 2, 5, "2", 6)]) == data.replace(b"c = 1", b"c = 2")


def test_windows_line_ends_inside_a_source_stay() -> None:
    data = raw("a = 1\r\nb = 2\r\n")
    source = Source.from_bytes("train.ipynb", data)
    assert python(source) == "a = 1\nb = 2"
    assert source.with_edits([edit(1, 2, 1, "c = 3\n")]) == raw("a = 1\r\nc = 3\r\nb = 2\r\n")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[]", '["x = 1"]'),
        ('""', '"x = 1"'),
        ('["a"]', '["x = 1\\n", "a"]'),
        ('[\n    "a"\n   ]', '[\n    "x = 1\\n",\n    "a"\n   ]'),
    ],
)
def test_sources_too_short_to_show_their_style(value: str, expected: str) -> None:
    data = f'{{"cells": [{{"source": {value}, "cell_type": "code"}}]}}'
    source = Source.from_bytes("train.ipynb", data.encode())
    content = "x = 1\n" if "a" in value else "x = 1"
    assert source.with_edits([edit(1, 1, 1, content)]).decode() == data.replace(value, expected)


def test_an_edit_outside_any_source_is_refused() -> None:
    source = read(markdown("x"), "y = 1", {"cell_type": "code"})
    for cell in (1, 3, 4, None):
        with pytest.raises(EditError):
            source.with_edits([edit(cell, 1, 1, "z")])


@given(
    st.lists(st.text(alphabet='ab\n\r"\\é\N{HUGGING FACE}/\x7f', max_size=12), min_size=1, max_size=4),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 0, 1, 3]),
    st.data(),
)
def test_an_insertion_changes_one_source_and_no_other_byte(
    texts: list[str], is_list: bool, is_ascii: bool, indent: int | None, data: st.DataObject
) -> None:
    sources = [re.findall(r"[^\n]*\n|[^\n]+", text) if is_list else text for text in texts]
    written = raw(*sources, indent=indent, ensure_ascii=is_ascii)
    source = Source.from_bytes("train.ipynb", written)
    assert source.with_edits([]) == written
    number = data.draw(st.integers(1, len(texts)))
    row = data.draw(st.integers(1, len(re.split(r"\r\n|\r|\n", texts[number - 1]))))
    changed = source.with_edits([edit(number, row, 1, "+")])
    before, after = json.loads(written), json.loads(changed)
    new = "".join(after["cells"][number - 1].pop("source"))
    old = "".join(before["cells"][number - 1].pop("source"))
    assert new.replace("+", "", 1) == old
    assert before == after
    assert written.endswith(changed[-20:])
