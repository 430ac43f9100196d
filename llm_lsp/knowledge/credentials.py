"""What tokens and keys look like, by whoever issues them.

Sources: the issuers' own documentation of their prefixes (Hugging Face, OpenAI, Anthropic, GitHub, AWS, Google, Slack, Groq,
NVIDIA, Replicate, Weights & Biases), and the lengths that gitleaks' public rules look for.
"""

from __future__ import annotations

import re

__all__ = ["FORMS", "HARMLESS", "PLACEHOLDER", "WORDS"]

_END = r"(?![\w-])"
_NAMED = r"(?i:api_?key|access_?token|auth_?token|secret_?key)['\"]?\]?\s*[=:]\s*"
_ALONE = r"(?<![\w-])"

FORMS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (rf"{_ALONE}(?P<secret>(?:hf|api_org)_[A-Za-z0-9]{{30,64}}){_END}", "Hugging Face token", "HF_TOKEN", ("hf_", "api_org_")),
    (rf"{_ALONE}(?P<secret>sk-ant-[a-z0-9]+-[\w-]{{32,}}){_END}", "Anthropic key", "ANTHROPIC_API_KEY", ("sk-ant-",)),
    (
        rf"{_ALONE}(?P<secret>sk-(?:proj-|svcacct-|admin-)?(?=[\w-]*\d)[A-Za-z0-9_-]{{32,}}){_END}",
        "OpenAI key", "OPENAI_API_KEY", ("sk-",),
    ),
    (
        r"(?i:wandb)[\w.]*(?i:login\(\s*(?:key\s*=\s*)?|key['\"]?\]?\s*[=:]\s*|key['\"],\s*)['\"](?P<secret>[0-9a-f]{40})['\"]",
        "Weights & Biases key", "WANDB_API_KEY", ("wandb", "WANDB"),
    ),
    (rf"{_ALONE}(?P<secret>gh[pousr]_[A-Za-z0-9]{{36,}}|github_pat_\w{{60,}}){_END}", "GitHub token", "GITHUB_TOKEN", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")),
    (rf"{_ALONE}(?P<secret>AKIA[0-9A-Z]{{16}}){_END}", "AWS key", "AWS_ACCESS_KEY_ID", ("AKIA",)),
    (rf"{_ALONE}(?P<secret>AIza[\w-]{{35}}){_END}", "Google key", "GOOGLE_API_KEY", ("AIza",)),
    (rf"{_ALONE}(?P<secret>gsk_[A-Za-z0-9]{{40,}}){_END}", "Groq key", "GROQ_API_KEY", ("gsk_",)),
    (rf"{_ALONE}(?P<secret>nvapi-[\w-]{{40,}}){_END}", "NVIDIA key", "NVIDIA_API_KEY", ("nvapi-",)),
    (rf"{_ALONE}(?P<secret>r8_[A-Za-z0-9]{{37}}){_END}", "Replicate token", "REPLICATE_API_TOKEN", ("r8_",)),
    (rf"{_ALONE}(?P<secret>xox[baprs]-[\w-]{{20,}}){_END}", "Slack token", "", ("xox",)),
    (
        rf"{_NAMED}['\"](?P<secret>(?=(?:[^'\"\d]*\d){{4}})(?=[^'\"]*[A-Za-z])[A-Za-z0-9]{{32,}})['\"]",
        "secret", "", ("api_key", "apikey", "API_KEY", "access_token", "ACCESS_TOKEN", "auth_token", "AUTH_TOKEN", "secret_key", "SECRET_KEY"),
    ),
)  # fmt: skip
"""What a secret looks like, whose it is, the variable of the environment for it, and words one of which is in every text
that holds one."""
WORDS = tuple(word for form in FORMS for word in form[3])
PLACEHOLDER = re.compile(
    r"your|xxxx|example|placeholder|dummy|token|replace|insert|redact|fake|secret|change|test|here|\.\.\.",
    re.IGNORECASE,
)
"""Words in what only stands where a secret belongs."""
HARMLESS = re.compile(
    r"not critical|sandbox|dummy|fake|invalid|revoked|expired|public|example|not a real", re.IGNORECASE
)
"""Words in a comment that says of a secret that it opens nothing."""
