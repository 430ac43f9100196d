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
from llm_lsp.server.requests.code_lens import PROBE
from llm_lsp.server.session import Session
from llm_lsp.server.uris import uri_of

__all__ = ["COMMANDS", "DEBUG_INFORMATION", "EXPLAIN", "RULES", "handle"]

RULES = "llm-lint.rules"
EXPLAIN = "llm-lint.explain"
DEBUG_INFORMATION = "llm-lint.debugInformation"


async def handle(session: Session, params: types.ExecuteCommandParams) -> object:
    """What the command answers."""
    command = COMMANDS.get(params.command)
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


async def _probe(session: Session, arguments: list[Any]) -> None:
    """What running the program can tell; nothing of it is there yet."""
    del arguments
    if not session.options.trusted:
        message = "llm-lint: the workspace is not trusted, so no program of it is started"
    else:
        message = "llm-lint: this release can't check shapes yet: the probe that runs the program is still to come"
    session.client.show_message(message, types.MessageType.Info)


COMMANDS: dict[str, Callable[[Session, list[Any]], Awaitable[object]]] = {
    RULES: _rules,
    EXPLAIN: _explain,
    DEBUG_INFORMATION: _debug_information,
    PROBE: _probe,
}
