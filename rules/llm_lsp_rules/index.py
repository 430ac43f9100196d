"""What is known of every rule before it is imported; written by scripts/index_rules.py, never by hand.

A row: code, name, category, severity, on by default, triggers, supersedes, fix, module, class.
"""

from __future__ import annotations

RULES: tuple[tuple[str, str, str, str, bool, tuple[str, ...], tuple[str, ...], str, str, str], ...] = (
    (
        "LLM101",
        "tokenizer-of-another-model",
        "tokenizer",
        "error",
        True,
        ("from_pretrained", "pipeline("),
        (),
        "unsafe",
        "llm_lsp_rules.tokenizer.tokenizer_of_another_model",
        "TokenizerOfAnotherModel",
    ),
    (
        "LLM301",
        "gradients-in-inference",
        "memory",
        "warning",
        True,
        ("(",),
        (),
        "unsafe",
        "llm_lsp_rules.memory.gradients_in_inference",
        "GradientsInInference",
    ),
)
