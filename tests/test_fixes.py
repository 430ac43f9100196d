"""What a fix does to a text, and what it leaves alone."""

from __future__ import annotations

from textwrap import dedent

import pytest

from llm_lsp.diagnostic import Applicability, Fix, Position, Range
from llm_lsp.fixes import realise
from llm_lsp.rule import (
    Change,
    Decorate,
    EnsureImport,
    InsertAfter,
    InsertBefore,
    Repair,
    Replace,
    SetArgument,
    Wrap,
    WrapFollowing,
)
from llm_lsp.source import Source


def place(text: str, words: str, *, nth: int = 1) -> Range:
    """Where `words` stand in `text`, for the `nth` time."""
    start = -1
    for _ in range(nth):
        start = text.index(words, start + 1)

    def position(offset: int) -> Position:
        return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))

    return Range(position(start), position(start + len(words)))


def fix_of(source: Source, *changes: Change) -> Fix | None:
    return realise(source, Repair("repair", tuple(changes), Applicability.UNSAFE))


def fixed(text: str, *changes: Change) -> str | None:
    """The text after the fix, None where there is none."""
    source = Source.from_text("train.py", text)
    fix = fix_of(source, *changes)
    return None if fix is None else source.with_edits(fix.edits).decode()


def lines(text: str) -> str:
    return dedent(text).lstrip("\n")


NO_GRAD = "with torch.no_grad():"


# ---------------------------------------------------------------- wrap


def test_wrapped_statements_take_the_comments_between_them_along() -> None:
    text = lines("""
        def f():
            a()
            # between
            b()  # beside

            c()
        """)
    assert fixed(text, Wrap(place(text, "a()"), place(text, "b()"), NO_GRAD)) == lines("""
        def f():
            with torch.no_grad():
                a()
                # between
                b()  # beside

            c()
        """)


def test_wrapping_leaves_the_inner_lines_of_strings_alone() -> None:
    text = lines('''
        def f():
            prompt = """
          two
        none""" + g(
                x)
            text = f"""{prompt}
            again"""
        ''')
    assert fixed(text, WrapFollowing(place(text, "prompt"), NO_GRAD)) == lines('''
        def f():
            with torch.no_grad():
                prompt = """
          two
        none""" + g(
                    x)
                text = f"""{prompt}
            again"""
        ''')


def test_wrapping_follows_the_indentation_of_the_file() -> None:
    text = "def f():\n\ta()\n\tif x:\n\t\tb()\n"
    assert fixed(text, WrapFollowing(place(text, "a"), NO_GRAD)) == (
        "def f():\n\twith torch.no_grad():\n\t\ta()\n\t\tif x:\n\t\t\tb()\n"
    )
    text = "for x in y:\n  a(x)\n"
    assert fixed(text, Wrap(place(text, "for x in y"), place(text, "for x in y"), NO_GRAD)) == (
        "with torch.no_grad():\n  for x in y:\n    a(x)\n"
    )


def test_an_inner_block_is_wrapped_up_to_where_the_outer_one_goes_on() -> None:
    text = "def f():\n    for x in y:\n        a()\n        b()\n    c()\n"
    assert fixed(text, WrapFollowing(place(text, "a()"), NO_GRAD)) == (
        "def f():\n    for x in y:\n        with torch.no_grad():\n            a()\n            b()\n    c()\n"
    )


def test_a_comment_that_ends_the_body_of_the_last_statement_stays_in_it() -> None:
    text = "for x in y:\n    a(x)\n    # the rest of it\n# of the module\n"
    assert fixed(text, WrapFollowing(place(text, "for x in y"), NO_GRAD)) == (
        "with torch.no_grad():\n    for x in y:\n        a(x)\n        # the rest of it\n# of the module\n"
    )


def test_an_elif_is_wrapped_with_its_if() -> None:
    text = "if a:\n    b()\nelif c:\n    d()\n"
    assert fixed(text, Wrap(place(text, "c"), place(text, "c"), NO_GRAD)) == (
        "with torch.no_grad():\n    if a:\n        b()\n    elif c:\n        d()\n"
    )


def test_a_decorated_function_is_wrapped_with_its_decorators() -> None:
    text = "@cache\ndef f():\n    pass\n"
    assert fixed(text, WrapFollowing(place(text, "def f"), "with x:")) == (
        "with x:\n    @cache\n    def f():\n        pass\n"
    )


def test_statements_of_two_blocks_are_not_wrapped() -> None:
    text = "def f():\n    a()\n    if x:\n        b()\n"
    assert fixed(text, Wrap(place(text, "a()"), place(text, "b()"), NO_GRAD)) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a(); b()\n", "a()"),
        ("a(); b()\n", "b()"),
        ("if x: a()\n", "a()"),
        ("x = 1; \\\na()\n", "a()"),
        ('"""Docstring."""\na()\n', '"""Docstring."""'),
        ("from __future__ import annotations\n", "from"),
    ],
)
def test_what_shares_its_line_or_must_come_first_is_not_wrapped(text: str, words: str) -> None:
    assert fixed(text, Wrap(place(text, words), place(text, words), NO_GRAD)) is None


def test_a_one_line_compound_and_a_semicolon_line_are_wrapped_as_lines() -> None:
    text = "a()\nif x: b()\nc(); d()\ne()\n"
    assert fixed(text, WrapFollowing(place(text, "a()"), "with x:")) == (
        "with x:\n    a()\n    if x: b()\n    c(); d()\n    e()\n"
    )


def test_a_form_feed_stays_before_the_indentation() -> None:
    text = "def f():\n    a()\n\f    b()\n"
    assert fixed(text, WrapFollowing(place(text, "a()"), "with x:")) == (
        "def f():\n    with x:\n        a()\n\f        b()\n"
    )


def test_one_fix_wraps_a_block_and_changes_what_stands_in_it() -> None:
    text = "def f():\n    a(x)\n    b()\n"
    changes = (
        WrapFollowing(place(text, "a"), "with x:"),
        SetArgument(place(text, "a(x)"), "k", "1"),
        Replace(place(text, "b"), "c"),
        InsertBefore(place(text, "a"), "before()"),
        InsertAfter(place(text, "b()"), "after()"),
    )
    assert fixed(text, *changes) == (
        "def f():\n    before()\n    with x:\n        a(x, k=1)\n        c()\n    after()\n"
    )


# ---------------------------------------------------------------- decorate


def test_a_decorator_stands_nearest_to_the_function() -> None:
    text = lines("""
        class A:
            @property
            # why
            @cache
            async def f(self):
                return 1
        """)
    assert fixed(text, Decorate(place(text, "return 1"), "torch.no_grad()")) == lines("""
        class A:
            @property
            # why
            @cache
            @torch.no_grad()
            async def f(self):
                return 1
        """)


def test_the_innermost_function_is_decorated() -> None:
    text = "def f():\n    def g(x=1):\n        h()\n    g()\n"
    assert (
        fixed(text, Decorate(place(text, "h()"), "@d")) == "def f():\n    @d\n    def g(x=1):\n        h()\n    g()\n"
    )
    assert fixed(text, Decorate(place(text, "g()"), "d")) == "@d\ndef f():\n    def g(x=1):\n        h()\n    g()\n"


def test_a_lambda_is_not_decorated_nor_the_function_around_it() -> None:
    text = "def f():\n    return lambda x: model(x)\n"
    assert fixed(text, Decorate(place(text, "model(x)"), "d")) is None


def test_a_decorator_that_is_there_is_not_repeated() -> None:
    text = "@torch . no_grad( )\ndef f():\n    pass\n"
    assert fixed(text, Decorate(place(text, "pass"), "torch.no_grad()")) is None


# ---------------------------------------------------------------- insert


def test_a_statement_goes_above_the_decorators_and_below_the_body() -> None:
    text = "x = 1\n@d\ndef f():\n    if x:\n        pass\n    # end of f\n"
    assert fixed(text, InsertBefore(place(text, "def f"), "seed()")) == text.replace("@d", "seed()\n@d")
    assert fixed(text, InsertAfter(place(text, "def f"), "seed()")) == text + "seed()\n"


def test_a_statement_goes_below_the_whole_block_of_a_compound_one() -> None:
    text = "def f():\n    for x in y:\n        if x:\n            pass\n    g()\n"
    assert fixed(text, InsertAfter(place(text, "for x in y"), "seed()")) == text.replace(
        "    g()", "    seed()\n    g()"
    )
    assert fixed(text, InsertAfter(place(text, "if x"), "seed()")) == text.replace("    g()", "        seed()\n    g()")


def test_a_statement_goes_below_the_comment_that_ends_the_function() -> None:
    text = "def f():\n    for x in y:\n        pass\n        # more\n\n\ndef g():\n    pass\n"
    assert fixed(text, InsertAfter(place(text, "for x in y"), "seed()")) == text.replace(
        "# more\n", "# more\n    seed()\n"
    )


def test_a_statement_that_would_leave_its_block_is_none() -> None:
    text = "def f():\n    a()\n    b()\n\n\ndef g():\n    a()\n"
    assert fixed(text, Replace(place(text, "a()", nth=1), "c()\nd()")) is None
    assert fixed(text, Replace(place(text, "a()", nth=2), "c()\nd()")) is None


def test_a_statement_of_several_lines_gets_the_steps_of_the_file() -> None:
    text = "def f():\n\ta()\n"
    statement = 'if x:\n    raise ValueError("""\n  as it is""")'
    assert fixed(text, InsertAfter(place(text, "a()"), statement)) == (
        'def f():\n\ta()\n\tif x:\n\t\traise ValueError("""\n  as it is""")\n'
    )


def test_a_statement_may_come_first_after_the_docstring_but_not_before_it() -> None:
    text = '"""Docstring."""\nx = 1\n'
    assert fixed(text, InsertBefore(place(text, "x"), "y = 2")) == '"""Docstring."""\ny = 2\nx = 1\n'
    assert fixed(text, InsertBefore(place(text, "Doc"), "y = 2")) is None


@pytest.mark.parametrize(("text", "words"), [("a(); b()\n", "b"), ("if x: a()\n", "a"), ("a()\\\n\n", "a")])
def test_a_statement_that_shares_its_line_gets_no_neighbour(text: str, words: str) -> None:
    assert fixed(text, InsertAfter(place(text, words), "c()")) is None


def test_the_semicolon_that_ends_a_line_is_no_neighbour() -> None:
    assert fixed("a();  # plot\n", InsertAfter(place("a()", "a"), "c()")) == "a();  # plot\nc()\n"


def test_an_insertion_at_the_end_keeps_the_missing_line_end() -> None:
    assert fixed("a()", InsertAfter(place("a()", "a"), "c()")) == "a()\nc()"


# ---------------------------------------------------------------- replace


def test_a_deleted_statement_takes_its_line_along_and_leaves_pass_in_an_empty_block() -> None:
    assert fixed("a()\nb()\nc()\n", Replace(place("a()\nb()", "b()"), "")) == "a()\nc()\n"
    assert fixed("if x:\n    b()\n", Replace(place("if x:\n    b()", "b()"), "")) == "if x:\n    pass\n"


def test_a_replacement_that_would_drop_a_comment_is_none() -> None:
    text = "f(\n    a,  # why\n    b,\n)\n"
    assert fixed(text, Replace(place(text, text.strip()), "f(a, b)")) is None
    assert fixed("a()\nb()  # why\n", Replace(place("a()\nb()", "b()"), "")) is None


def test_a_replacement_that_does_not_parse_is_none() -> None:
    assert fixed("a(b)\n", Replace(place("a(b)", "b"), "(")) is None


def test_an_escape_that_python_warns_of_is_the_program_s_own_business() -> None:
    # Warnings are errors in these tests.
    text = lines(r"""
        a = b("\d")
        """)
    assert fixed(text, Replace(place(text, "b"), "c")) == 'a = c("\\d")\n'


def test_columns_count_code_points() -> None:
    text = 'π = "naïve 🙂"; model = f("é", x)\n'
    assert fixed(text, SetArgument(place(text, 'f("é", x)'), "k", "1")) == ('π = "naïve 🙂"; model = f("é", x, k=1)\n')


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()", "f(k=1)"),
        ("f(  )", "f(k=1  )"),
        ("f(\n    # none\n)", "f(k=1\n    # none\n)"),
        ("f(a)", "f(a, k=1)"),
        ("f(a,)", "f(a, k=1,)"),
        ("f((a))", "f((a), k=1)"),
        ("f(a=(1))", "f(a=(1), k=1)"),
        ("f(*a)", "f(*a, k=1)"),
        ("f(**o)", "f(k=1, **o)"),
        ("f(a, **o)", "f(a, k=1, **o)"),
        ("f(a, **o, **p)", "f(a, k=1, **o, **p)"),
        ("f(**o, a=1)", "f(**o, a=1, k=1)"),
        ("f(k=2)", "f(k=1)"),
        ("f(k=(2), a=3)", "f(k=(1), a=3)"),
        ("f(x for x in y)", "f((x for x in y), k=1)"),
        ("f((x for x in y))", "f((x for x in y), k=1)"),
        ("f(\n    x for x in y  # all\n)", "f((\n    x for x in y), k=1  # all\n)"),
        ("f(\n    a,\n    b,\n)", "f(\n    a,\n    b,\n    k=1,\n)"),
        ("f(\n    a,\n    b\n)", "f(\n    a,\n    b,\n    k=1\n)"),
        ("f(a,\n  b)", "f(a,\n  b,\n  k=1)"),
        ("f(\n    a, b\n)", "f(\n    a, b, k=1\n)"),
        ("f(\n    a, b,  # both\n)", "f(\n    a, b, k=1,  # both\n)"),
        ("f(\n    a,\n    b  # why\n)", "f(\n    a,\n    b,  # why\n    k=1\n)"),
        ("f(\n    a,\n    b,  # why\n    # more\n)", "f(\n    a,\n    b,  # why\n    k=1,\n    # more\n)"),
        ("f(\n    a,\n    **o,\n)", "f(\n    a,\n    k=1,\n    **o,\n)"),
        ("f(\n    g(\n        a\n    )\n)", "f(\n    g(\n        a\n    ),\n    k=1\n)"),
        ("f(g(\n    a,\n))", "f(g(\n    a,\n), k=1)"),
        ("f(a)(b)", "f(a)(b, k=1)"),
        ("(f)(a)", "(f)(a, k=1)"),
        ("f(\n\t(a),\n\t(b),\n)", "f(\n\t(a),\n\t(b),\n\tk=1,\n)"),
        ("f('a'\n  'b')", "f('a'\n  'b', k=1)"),
        ("f(lambda: 0)", "f(lambda: 0, k=1)"),
    ],
)
def test_an_argument_is_set_in_the_style_of_the_call(before: str, after: str) -> None:
    for around in ("{}\n", "x = {}\n", "with {}:\n    pass\n", "@{}\ndef g(): pass\n", "if a: {}\n", "a; {}; b\n"):
        start = around.index("{")
        ends = before.split("\n")
        end = Position(len(ends), len(ends[-1]) + 1 + (start if len(ends) == 1 else 0))
        where = Range(Position(1, start + 1), end)
        assert fixed(around.format(before), SetArgument(where, "k", "1")) == around.format(after)


def test_several_arguments_of_one_call_are_one_fix() -> None:
    text = "encode(\n    batch,\n    max_length=None,\n)\n"
    where = place(text, text.strip())
    changes = (
        SetArgument(where, "truncation", "True"),
        SetArgument(where, "max_length", "512"),
        SetArgument(where, "padding", "True"),
    )
    assert fixed(text, *changes) == (
        "encode(\n    batch,\n    max_length=512,\n    truncation=True,\n    padding=True,\n)\n"
    )


def test_an_argument_that_has_the_value_needs_no_fix() -> None:
    assert fixed("f(k=1)\n", SetArgument(place("f(k=1)", "f(k=1)"), "k", "1")) is None


def test_nothing_is_edited_inside_an_f_string_that_cannot_be_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'x = f"{g(a)}"\n'
    change = SetArgument(place(text, "g(a)"), "k", "1")
    monkeypatch.setattr("llm_lsp.fixes.edits.PLACES_IN_FORMAT_STRINGS", False)
    assert fixed(text, change) is None
    monkeypatch.setattr("llm_lsp.fixes.edits.PLACES_IN_FORMAT_STRINGS", True)
    assert fixed(text, Replace(place(text, "g(a)"), "g('a')")) is None
    assert fixed(text, Replace(place(text, "g(a)"), "h(a)")) == 'x = f"{h(a)}"\n'
    assert fixed(text, Replace(place(text, 'f"{g(a)}"'), "str(g(a))")) == "x = str(g(a))\n"


# ---------------------------------------------------------------- masked lines


def test_a_broken_line_keeps_its_neighbours_from_being_wrapped_but_not_the_others() -> None:
    text = "def f():\n    a()\n    torch.(\n    b()\n\n\ndef g():\n    c()\n"
    assert fixed(text, Wrap(place(text, "a()"), place(text, "b()"), NO_GRAD)) is None
    assert fixed(text, Wrap(place(text, "c()"), place(text, "c()"), NO_GRAD)) == text.replace(
        "    c()", "    with torch.no_grad():\n        c()"
    )


# ---------------------------------------------------------------- imports


def with_import(text: str, module: str, name: str | None = None) -> str | None:
    return fixed(text, EnsureImport(module, name))


@pytest.mark.parametrize(
    ("text", "module", "name"),
    [
        ("import torch\n", "torch", None),
        ("import torch.nn\n", "torch", None),
        ("import os, torch\n", "torch", None),
        ("import torch as torch\n", "torch", None),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\n", "torch", None),
        ("if available():\n    from transformers import set_seed\n", "transformers", "set_seed"),
        ("from transformers import (\n    set_seed,\n)\n", "transformers", "set_seed"),
    ],
)
def test_a_binding_that_exists_is_enough(text: str, module: str, name: str | None) -> None:
    assert with_import(text, module, name) is None
    assert (
        fixed(
            text + "x = 1\n",
            EnsureImport(module, name),
            Replace(Range(Position(text.count("\n") + 1, 5), Position(text.count("\n") + 1, 6)), "2"),
        )
        == text + "x = 2\n"
    )


@pytest.mark.parametrize(
    ("text", "module", "name"),
    [
        ("torch = 1\n", "torch", None),
        ("import thing as torch\n", "torch", None),
        ("from here import torch\n", "torch", None),
        ("def set_seed(): pass\n", "transformers", "set_seed"),
        ("for torch in x: pass\n", "torch", None),
        ("with x as (a, torch): pass\n", "torch", None),
        ("try:\n    import torch.nn as nn\nexcept ImportError:\n    nn = None\n", "torch", None),
        ("def f():\n    global torch\n    torch = 1\n", "torch", None),
    ],
)
def test_a_name_that_is_taken_or_may_be_absent_leaves_no_fix(text: str, module: str, name: str | None) -> None:
    assert fixed(text, EnsureImport(module, name), InsertAfter(Range(Position(1, 1), Position(1, 2)), "x = 1")) is None
    assert with_import(text, module, name) is None


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("from transformers import A\n", "from transformers import A, set_seed\n"),
        ("from transformers import (A)\n", "from transformers import (A, set_seed)\n"),
        ("from transformers import A, \\\n    B\n", "from transformers import A, \\\n    B, set_seed\n"),
        ("from transformers import A  # noqa\n", "from transformers import A, set_seed  # noqa\n"),
        (
            "from transformers import (\n    A,\n    B,  # for b\n    trainer,\n)\n",
            "from transformers import (\n    A,\n    B,  # for b\n    set_seed,\n    trainer,\n)\n",
        ),
        (
            "from transformers import (\n    A,\n    B\n)\n",
            "from transformers import (\n    A,\n    B,\n    set_seed\n)\n",
        ),
        ("from transformers import B, A\n", "from transformers import B, A, set_seed\n"),
        ("from transformers import set_seed as s\n", "from transformers import set_seed, set_seed as s\n"),
        ("from transformers import *\n", "from transformers import set_seed\nfrom transformers import *\n"),
    ],
)
def test_an_import_of_the_module_is_extended(text: str, after: str) -> None:
    assert with_import(text, "transformers", "set_seed") == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", "import torch\n"),
        ("x = 1\n", "import torch\n\nx = 1\n"),
        ('"""Doc."""\n', '"""Doc."""\n\nimport torch\n'),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nimport torch\n\nx = 1\n'),
        ('"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nimport torch\n\nx = 1\n'),
        (
            "from __future__ import annotations\n\nx = 1\n",
            "from __future__ import annotations\n\nimport torch\n\nx = 1\n",
        ),
        ("#!/usr/bin/env python\n# Licence\nx = 1\n", "#!/usr/bin/env python\n# Licence\nimport torch\n\nx = 1\n"),
        ("# Licence\n\n# why\nx = 1\n", "# Licence\n\nimport torch\n\n# why\nx = 1\n"),
        ("import os\n\nx = 1\n", "import os\n\nimport torch\n\nx = 1\n"),
        ("import numpy\nimport transformers\n", "import numpy\nimport torch\nimport transformers\n"),
        (
            "import os\n\nimport numpy\n\nfrom . import a\n",
            "import os\n\nimport numpy\nimport torch\n\nfrom . import a\n",
        ),
        ("import os\n\nfrom . import a\n", "import os\n\nimport torch\n\nfrom . import a\n"),
        ("from . import a\n", "import torch\n\nfrom . import a\n"),
        ("from transformers import A\n", "import torch\nfrom transformers import A\n"),
        ("from datasets import D\nimport numpy\n", "from datasets import D\nimport numpy\nimport torch\n"),
        ("import wandb\nimport numpy\n\nx = 1\n", "import wandb\nimport numpy\nimport torch\n\nx = 1\n"),
        (
            "import datasets\n# for its side effect\nimport xformers\n",
            "import datasets\nimport torch\n# for its side effect\nimport xformers\n",
        ),
        ("import a; import b\n", "import a; import b\nimport torch\n"),
        (
            "import numpy\nfrom torch import nn\nimport zlib\n",
            "import numpy\nimport torch\nfrom torch import nn\nimport zlib\n",
        ),
        (
            "import os\nos.environ['A'] = '1'\nimport numpy\nfrom torch import nn\n",
            "import os\nos.environ['A'] = '1'\nimport numpy\nimport torch\nfrom torch import nn\n",
        ),
        ("if TYPE_CHECKING:\n    import torch\n", "import torch\n\nif TYPE_CHECKING:\n    import torch\n"),
        (
            'if __name__ == "__main__":\n    import torch\n',
            'import torch\n\nif __name__ == "__main__":\n    import torch\n',
        ),
        ("def f():\n    pass\n\n\nimport numpy\n", "import torch\n\n\ndef f():\n    pass\n\n\nimport numpy\n"),
    ],
)
def test_a_new_import_goes_where_a_person_would_put_it(text: str, after: str) -> None:
    assert with_import(text, "torch") == after


def test_several_imports_of_one_fix_stand_together() -> None:
    wanted = (
        EnsureImport("transformers", "set_seed"),
        EnsureImport("torch"),
        EnsureImport("transformers", "AutoModel"),
    )
    assert fixed("import os\n\nx = 1\n", *wanted) == (
        "import os\n\nimport torch\nfrom transformers import AutoModel, set_seed\n\nx = 1\n"
    )


def test_the_import_comes_before_its_use() -> None:
    text = "import os\nmain()\nimport torch\n"
    assert fixed(text, EnsureImport("torch"), InsertBefore(place(text, "main()"), "torch.manual_seed(0)")) == (
        "import os\n\nimport torch\ntorch.manual_seed(0)\nmain()\nimport torch\n"
    )


def test_an_import_below_a_function_is_enough_for_its_body() -> None:
    text = "class A:\n    def f(self):\n        a()\n\n\nimport torch\n"
    assert fixed(text, EnsureImport("torch"), WrapFollowing(place(text, "a()"), NO_GRAD)) == text.replace(
        "        a()", "        with torch.no_grad():\n            a()"
    )
    decorated = fixed(text, EnsureImport("torch"), Decorate(place(text, "a()"), "torch.no_grad()"))
    assert decorated is not None
    assert decorated.startswith("import torch\n")


def test_an_import_inside_the_function_is_enough_for_its_body() -> None:
    text = "def f():\n    import torch\n    a()\n"
    assert fixed(text, EnsureImport("torch"), WrapFollowing(place(text, "a()"), NO_GRAD)) == (
        "def f():\n    import torch\n    with torch.no_grad():\n        a()\n"
    )
    assert fixed(text, EnsureImport("torch"), Decorate(place(text, "a()"), "torch.no_grad()")) == (
        "import torch\n\n\n@torch.no_grad()\ndef f():\n    import torch\n    a()\n"
    )


@pytest.mark.parametrize("line", ["torch = x", "import thing as torch"])
def test_a_local_name_that_hides_the_import_leaves_no_fix(line: str) -> None:
    text = f"def f():\n    {line}\n    a()\n"
    assert fixed(text, EnsureImport("torch"), WrapFollowing(place(text, "a()"), NO_GRAD)) is None
    text = "def f(torch):\n    a()\n"
    assert fixed(text, EnsureImport("torch"), WrapFollowing(place(text, "a()"), NO_GRAD)) is None
