"""LLM703 token-in-code."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Change, EnsureImport, Facts, Good, Replace, Report, Rule, Severity


class TokenInCode(Rule):
    """A token or key of a hub or a service is written in the code: whoever can read the file can use it.

    A repository, a package, an image or a shared notebook carries the token along, and its history keeps it after the line is
    gone. Tokens on public hubs are found and used within minutes; a Hugging Face token with the right to write can replace the
    weights of every model that its owner publishes.

    Revoke the token, make a new one, and read it from the environment (`HF_TOKEN` is read by `huggingface_hub` by itself) or
    from a file that is never committed. Deleting the line is not enough.

    Reported are texts in the form of Hugging Face, OpenAI, Anthropic, GitHub, AWS, Google, Groq, NVIDIA, Replicate, Slack and
    Weights & Biases secrets, and long random texts that are given as an API key or access token; comments are read too. The
    message never shows the secret. Placeholders, and what a comment calls public, fake or revoked, are left alone.
    """

    code = "LLM703"
    severity = Severity.ERROR
    triggers = (
        "hf_", "api_org_", "sk-", "wandb", "WANDB", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA", "AIza", "gsk_", "nvapi-", "r8_", "xox",
        "api_key", "apikey", "API_KEY", "access_token", "ACCESS_TOKEN", "auth_token", "AUTH_TOKEN", "secret_key", "SECRET_KEY",
    )  # fmt: skip
    bad = [
        Bad(
            """\
from transformers import AutoModelForCausalLM

TOKEN = "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"  # <- a Hugging Face token is written in the code

def load(name):
    return AutoModelForCausalLM.from_pretrained(name, token=TOKEN)
""",
            fixed="""\
import os

from transformers import AutoModelForCausalLM

TOKEN = os.environ["HF_TOKEN"]

def load(name):
    return AutoModelForCausalLM.from_pretrained(name, token=TOKEN)
""",
        ),
        # Passed in a class.
        Bad(
            """\
import os

from openai import OpenAI

class Judge:
    def __init__(self):
        self.client = OpenAI(api_key="sk-proj-Qw3rTy7UiOp4sDfGhJk1zXcVbNm9wErTyUi0PaSd")  # <- an OpenAI key
""",
            fixed="""\
import os

from openai import OpenAI

class Judge:
    def __init__(self):
        self.client = OpenAI(api_key=os.environ["OPENAI_API_KEY"])
""",
        ),
        # Set, sent, of an unknown service, and in a comment.
        Bad("""\
import os

# login with 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  # <- a Hugging Face token
os.environ["WANDB_API_KEY"] = "83b1d0c47fe6a2958c0d1e7fb6a4935d28c07e1f"  # <- a Weights & Biases key

def ask(client, batches):
    for batch in batches:
        client.post(batch, headers={"Authorization": f"Bearer gsk_Qw3rTy7UiOp4sDfGhJk1zXcVbNm9wErTyUi0PaSd"})  # <- a Groq key
        client.rate(batch, cohere_api_key="Qw3rTy7UiOp4sDfGhJk1zXcVbNm9wErTyUi0PaSd")  # <- a secret is written
"""),
        # A notebook.
        Bad(
            {
                "push.ipynb": [
                    "from huggingface_hub import login",
                    "login(token='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')  # <- a Hugging Face token",
                ]
            },
            fixed={
                "push.ipynb": [
                    "import os\n\nfrom huggingface_hub import login",
                    'login(token=os.environ["HF_TOKEN"])',
                ]
            },
        ),
    ]
    good = [
        Good("""\
import os

from transformers import AutoTokenizer

TOKEN = os.environ.get("HF_TOKEN", "")

def load(name):
    tokenizer = AutoTokenizer.from_pretrained(name, token=TOKEN or None)
    tokenizer.pad_token = "<|endoftext|>"
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|reserved_special_token_123456789012345678901234|>"]})
    return tokenizer
"""),
        # Placeholders.
        Good("""\
from huggingface_hub import login

login(token="hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
login(token="hf_YourAccessTokenGoesRightInHere1234567")
login(token="hf_...")
OPENAI_API_KEY = "sk-your-openai-api-key-of-48-letters-0123456789"
api_key = "sk-0000000000000000000000000000000000000000"
"""),
        # Other long texts: a revision, a checksum, names, the word in the middle of another.
        Good("""\
from huggingface_hub import hf_hub_download

REVISION = "83b1d0c47fe6a2958c0d1e7fb6a4935d28c07e1f"
WANDB_RUN = "83b1d0c47fe6a2958c0d1e7fb6a4935d28c07e1f"

def fetch(name="disk-based-retrieval-augmented-generation-with-2-stages-and-3-heads"):
    path = hf_hub_download(name, "model.safetensors", revision=REVISION)
    return path, "task-of-classification-of-very-long-documents-in-12-languages"
"""),
        # Somebody says that it opens nothing.
        Good("""\
# Not critical, only usable on the sandboxed instance for continuous integration.
TOKEN = "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"
EXPIRED = "gsk_Qw3rTy7UiOp4sDfGhJk1zXcVbNm9wErTyUi0PaSd"  # revoked
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for secret in facts.written_secrets():
            if secret.is_real is not YES:
                continue
            literal, variable = secret.replaceable, secret.variable
            article = "an" if secret.issuer[0] in "AEIO" else "a"
            change: list[Change] = []
            if literal is not None and variable:
                change = [Replace(literal.range, f'os.environ["{variable}"]'), EnsureImport("os")]
            yield self.report(
                secret.place,
                f"{article} {secret.issuer} is written in the code: whoever reads the file can use it",
                help="revoke it, and read a new one from the environment",
                fix=change,
                fix_message=f"read it from the variable `{variable}` of the environment",
            )
