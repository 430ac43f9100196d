"""One warmed process that forks a child for each request, as the worker does; started once for a file of tests.

Reads requests, one JSON object a line, and writes `{"events": [...], "outcome": {...}, "cpu": [...]}` for each.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings

from llm_lsp.probe.worker import libraries
from llm_lsp.probe.worker.environment import prepare
from llm_lsp.probe.worker.shape import check_shapes


def answer(request: dict[str, object]) -> dict[str, object]:
    events: list[dict[str, object]] = []
    begun = time.process_time()
    shapes_known: list[float] = []

    def emit(event: dict[str, object]) -> None:
        events.append(event)
        if event["event"] == "result":
            shapes_known.append(time.process_time() - begun)

    outcome = check_shapes(request, emit)
    return {"events": events, "outcome": outcome, "cpu": [*shapes_known, time.process_time() - begun]}


def main() -> None:
    answers = os.dup(1)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    prepare(cuda=False)
    libraries.load(forks=True)
    libraries.warm_up()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            found = json.dumps(answer(json.loads(line))) + "\n"
            with os.fdopen(answers, "w", encoding="utf-8") as stream:
                stream.write(found)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            os.write(answers, b'{"crashed": true}\n')


if __name__ == "__main__":
    main()
