"""llm-lint: finds the faults in LLM code that raise nothing."""

__version__ = "0.1.0"
