"""Which exceptions are messages to the user, and which are bugs."""

from __future__ import annotations

from llm_lsp.cli.usage import UsageError
from llm_lsp.environment import EnvironmentNotFoundError
from llm_lsp.probe.interpreter import InterpreterNotFoundError
from llm_lsp.registry import RegistryError
from llm_lsp.settings import SettingsError

__all__ = ["is_for_the_user"]


def is_for_the_user(error: Exception) -> bool:
    """Whether the text of `error` says what is wrong and what to do about it."""
    messages = (
        UsageError | SettingsError | RegistryError | EnvironmentNotFoundError | InterpreterNotFoundError | OSError
    )
    return isinstance(error, messages)
