"""LLM703: a token is written where it was read, or left to the library."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.mutation.edits import Mutant, Program, dotted, mutants_of

CODE = "LLM703"

_LETTERS = "QwErTyUiOpAsDfGhJkLzXcVbNm"
# In parts, so that no scanner for secrets takes this file for a leak.
_HUB = "_".join(("hf", (_LETTERS * 2)[:34]))
_SERVICE = "-".join(("sk", "proj", "Qw3rTy7U" + _LETTERS + "9sDf"))
_HUB_KEYWORDS = frozenset({"token", "hf_token", "hub_token", "use_auth_token"})
_IS_READ = re.compile(r"None|True|os\.(?:environ|getenv)|.*(?:token|TOKEN)")
_IS_VARIABLE = re.compile(r"HF_TOKEN|HUGGING_FACE_HUB_TOKEN|[A-Z]+_API_KEY")


def mutants(program: Program) -> Iterator[Mutant]:
    """What a keyword for a token or a key is given, or what is read of the environment, is the secret itself."""
    for call in (node for node in program.nodes if isinstance(node, ast.Call)):
        for keyword in call.keywords:
            secret = _HUB if keyword.arg in _HUB_KEYWORDS else _SERVICE if keyword.arg == "api_key" else None
            if secret is not None and _IS_READ.match(ast.unparse(keyword.value)):
                change = program.blanked(keyword.value, f'"{secret}"')
                yield from mutants_of(program, CODE, "keyword", [change], keyword.value)
    for node in program.nodes:
        variable = _variable(node)
        if variable is not None and isinstance(node, ast.expr):
            change = program.blanked(node, f'"{_SERVICE if variable.endswith("_API_KEY") else _HUB}"')
            yield from mutants_of(program, CODE, "environment", [change], node)


def _variable(node: ast.AST) -> str | None:
    """The variable that `os.environ["HF_TOKEN"]`, or a `get` of it, reads."""
    name: ast.expr | None = None
    if isinstance(node, ast.Subscript) and dotted(node.value) == "os.environ" and isinstance(node.ctx, ast.Load):
        name = node.slice
    elif isinstance(node, ast.Call) and dotted(node.func) in {"os.environ.get", "os.getenv"} and node.args:
        name = node.args[0]
    value = name.value if isinstance(name, ast.Constant) else None
    return value if isinstance(value, str) and _IS_VARIABLE.fullmatch(value) else None
