"""The rules that come with llm-lint."""
