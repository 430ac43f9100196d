"""A client that sends nonsense gets errors that say so, and is served on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from lsprotocol import types

from llm_lsp.server.handlers import HANDLERS
from tests.server.programs import FAULTY
from tests.server.wire import PULLS, PUSHED, Wire

METHODS = [*HANDLERS, "textDocument/diagnostic", "workspace/diagnostic", "$/cancelRequest", "$/setTrace", "$/progress"]
TEXTS = [
    "",
    "x",
    FAULTY,
    "\r",
    "\ud83d\ude0a",
    "\0",
    "\ufeff",
    "'''",
    "def f(:\n",
    "\f\x1c\u2028",
    "model.eval(",
    "#" * 999,
]
NUMBERS = [0, 1, 3, 12, -1, 99_999, 2**31, 2**63, 1.5, True]
REFUSED = (-32600, -32601, -32602, -32800)
"""Invalid request, no such method, invalid parameters, cancelled."""


class Nonsense:
    """Parameters in which now and then something is missing, or is another thing than it should be."""

    def __init__(self, seed: int, uris: list[str]) -> None:
        self.random = Random(seed)  # noqa: S311 (so that what failed can be seen again)
        self.uris = uris

    def one_of(self, *choices: Any) -> Any:  # noqa: ANN401 (JSON)
        return self.random.choice(choices)

    def uri(self) -> str:
        return self.random.choice(self.uris)

    def position(self) -> Any:  # noqa: ANN401 (JSON)
        return {"line": self.random.choice(NUMBERS), "character": self.random.choice(NUMBERS)}

    def range(self) -> Any:  # noqa: ANN401 (JSON)
        return {"start": self.position(), "end": self.position()}

    def item(self) -> Any:  # noqa: ANN401 (JSON)
        text = self.random.choice(TEXTS)
        return {"uri": self.uri(), "languageId": "python", "version": self.random.choice(NUMBERS), "text": text}

    def anything(self) -> Any:  # noqa: ANN401 (JSON)
        return self.one_of(
            None,
            self.random.choice(NUMBERS),
            self.random.choice(TEXTS),
            [],
            {},
            [{}],
            self.uri(),
            self.range(),
            {"x": [1]},
        )

    def diagnostic(self) -> Any:  # noqa: ANN401 (JSON)
        data = {"version": 1, "fix": self.anything(), "line": self.anything(), "file": self.anything()}
        code = self.one_of("LLM101", 3, None)
        return {"range": self.range(), "message": "m", "source": "llm-lint", "code": code, "data": data}

    def cells(self) -> Any:  # noqa: ANN401 (JSON)
        return [{"kind": self.one_of(1, 2), "document": self.uri()}]

    def parameters(self) -> Any:  # noqa: ANN401 (JSON)
        versioned = {"uri": self.uri(), "version": self.random.choice(NUMBERS)}
        array = {
            "start": self.random.choice(NUMBERS),
            "deleteCount": self.random.choice(NUMBERS),
            "cells": self.cells(),
        }
        structure = {"array": array, "didOpen": [self.item()], "didClose": [{"uri": self.uri()}]}
        made: dict[str, Any] = {
            "textDocument": self.one_of(versioned, self.item()),
            "position": self.position(),
            "range": self.range(),
            "context": {"diagnostics": [self.diagnostic()], "only": self.one_of([], ["quickfix"], ["source.fixAll"])},
            "contentChanges": [{"range": self.range(), "text": self.random.choice(TEXTS)}],
            "command": self.one_of("llm-lint.explain", "llm-lint.debugInformation", "nothing"),
            "arguments": self.one_of([], ["LLM101"], [self.anything()]),
            "settings": self.one_of(
                {"llmLint": self.anything()}, {"settings": [self.anything()]}, {"interpreter": "\0"}
            ),
            "changes": [{"uri": self.uri(), "type": self.one_of(1, 2, 3, 9)}],
            "event": {"added": [{"uri": self.uri(), "name": "n"}], "removed": [{"uri": self.uri(), "name": "n"}]},
            "notebookDocument": {**versioned, "notebookType": "jupyter-notebook", "cells": self.cells()},
            "cellTextDocuments": [self.item()],
            "change": {"cells": self.one_of({"structure": structure}, {"data": self.cells()}, {})},
            "previousResultIds": [],
            "title": "t",
            "data": self.one_of({"fixAll": self.uri()}, self.anything()),
            "value": self.one_of("verbose", "off"),
            "id": self.one_of(1, "x"),
            "token": 1,
        }
        if self.random.random() < 0.2:
            made[self.random.choice(list(made))] = self.anything()
        if self.random.random() < 0.1:
            del made[self.random.choice(list(made))]
        return made if self.random.random() < 0.97 else self.anything()


def uris(folder: Path) -> Iterator[str]:
    yield from (
        (folder / name).as_uri() for name in ("a.py", "b c%.py", "\N{GRINNING FACE}.py", "n.ipynb", "llm-lint.toml")
    )
    yield f"vscode-notebook-cell:{(folder / 'n.ipynb').as_posix()}#c1"
    yield from (
        "untitled:x",
        "",
        "file://[bad",
        "file:///%zz%00.py",
        "http://x/y.py",
        "file://host/a.py",
        "file:///a.py?b#c",
    )
    yield f"file:///{'a' * 5_000}.py"


@pytest.mark.parametrize("seed", range(4))
def test_nonsense_is_refused_and_the_session_goes_on(seed: int, connect: Callable[..., Wire], workspace: Path) -> None:
    wire = connect("--log-level", "error")
    wire.start((PULLS, PUSHED)[seed % 2], {"diagnosticMode": "workspace"})
    nonsense = Nonsense(seed, list(uris(workspace)))
    asked: dict[int, tuple[str, Any]] = {}
    for _ in range(400):
        method, parameters = nonsense.random.choice(METHODS), nonsense.parameters()
        if "/did" in method or method.startswith("$") or method == types.WINDOW_WORK_DONE_PROGRESS_CANCEL:
            wire.notify(method, parameters)
        else:
            asked[wire.ask(method, parameters)] = method, parameters
    for request, sent in asked.items():
        error = wire.answer(request).get("error")
        assert error is None or error["code"] in REFUSED, (sent, error)
    # Whatever folders and settings it has by now.
    wire.notify("workspace/didChangeConfiguration", {"settings": {"llmLint": {"enable": True}}})
    uri = (workspace / "sane.py").as_uri()
    wire.open(uri, FAULTY)
    where = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 45}}
    assert "bert-base-cased" in str(wire.request("textDocument/hover", where))
    assert wire.shut_down() == 0
