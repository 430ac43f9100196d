"""`workspace/executeCommand`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from llm_lsp import rule_page
from llm_lsp.registry import explanation
from llm_lsp.server.debug_information import debug_information
from llm_lsp.server.pages import rule_markdown
from llm_lsp.server.probing import Question
from llm_lsp.server.requests.code_lens import PROBE, PROBE_RESULT
from llm_lsp.server.session import Session
from llm_lsp.server.uris import uri_of

__all__ = ["COMMANDS", "DEBUG_INFORMATION", "EXPLAIN", "RULES", "handle"]

RULES = "llm-lint.rules"
EXPLAIN = "llm-lint.explain"
DEBUG_INFORMATION = "llm-lint.debugInformation"


async def handle(session: Session, params: types.ExecuteCommandParams) -> object:
    """What the command answers."""
    if params.command == PROBE:
        return await _probe(session, list(params.arguments or ()), params.work_done_token)
    command = _COMMANDS.get(params.command)
    if command is None:
        raise JsonRpcInvalidParams(message=f"there is no command `{params.command}`")
    return await command(session, list(params.arguments or ()))


async def _rules(session: Session, arguments: list[Any]) -> list[dict[str, object]]:
    """All rules, for a client that lets the user choose one."""
    del arguments
    return [
        {"code": rule.code, "name": rule.name, "severity": rule.severity.value, "default": rule.default}
        for rule in session.rules
    ]


async def _explain(session: Session, arguments: list[Any]) -> str:
    """The page on a rule, which the client also shows where it can."""
    wanted = str(arguments[0]) if arguments else ""
    rule = next((rule for rule in session.rules if wanted in (rule.code, rule.name)), None)
    if rule is None:
        raise JsonRpcInvalidParams(message=f"there is no rule `{wanted}`")
    page = rule_markdown(rule)
    published = rule_page(rule.name)
    if session.capabilities.shows_documents:
        session.client.show_document(published or uri_of(session.written(f"{rule.code} {rule.name}.md", page)))
    else:
        first = explanation(rule).partition("\n")[0]
        more = published or f"`llm-lint rule {rule.code}` says more"
        session.client.show_message(f"{rule.code} {rule.name}: {first} ({more})", types.MessageType.Info)
    return page


async def _debug_information(session: Session, arguments: list[Any]) -> str:
    """What the server works with: versions, folders, and the settings of each open file."""
    del arguments
    return await session.in_worker(lambda: debug_information(session))


async def _probe(session: Session, arguments: list[Any], token: types.ProgressToken | None) -> dict[str, object] | None:
    """What running the program tells; None where it was not run."""
    question = _question(arguments)
    return await session.probing.ask(question, asked=True, token=token)


async def _probe_result(session: Session, arguments: list[Any]) -> dict[str, object] | None:
    """What the last run has told."""
    question = _question(arguments)
    return session.probing.last(question.uri, question.name)


def _question(arguments: list[Any]) -> Question:
    match arguments:
        case [{"uri": str(uri), **more}]:
            name, kind, args = more.get("name"), more.get("kind"), more.get("args")
            return Question(
                uri,
                name if isinstance(name, str) else None,
                kind if isinstance(kind, str) else "class",
                args if isinstance(args, str) else None,
            )
        case _:
            raise JsonRpcInvalidParams(
                message='the argument is an object such as `{"uri": "file:///model.py", "name": "GPT"}`'
            )


_COMMANDS: dict[str, Callable[[Session, list[Any]], Awaitable[object]]] = {
    RULES: _rules,
    EXPLAIN: _explain,
    DEBUG_INFORMATION: _debug_information,
    PROBE_RESULT: _probe_result,
}

COMMANDS = (*_COMMANDS, PROBE)
"""The names of all."""
