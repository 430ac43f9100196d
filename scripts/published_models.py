"""The shape check on published models: `python scripts/published_models.py [FILE ...]`.

None was written for the check, and all are right: an error in one of them is a false one, and so is most likely a
warning. The packages are installed into `.cache/published_models`, without what they depend on except what their models
import; classes are made with no arguments but those that the check finds. Prints the outcome of each class that was
asked for, those inside others come with them, and ends with 1 if one is called wrong.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

from llm_lsp.probe.client import Probe
from llm_lsp.probe.protocol import Done, Request, outcomes

CACHE = Path(__file__).resolve().parent.parent / ".cache" / "published_models"
MODELS = ("x-transformers==2.31.10", "litgpt==0.5.9", "vit-pytorch==1.26.14")
IMPORTED_BY_THEM = (
    "einops==0.8.2",
    "einx==0.4.3",
    "frozendict==2.5.1",
    "lightning-utilities==0.15.3",
    "loguru==0.7.3",
    "torch-einops-utils==0.2.0",
)
FILES = (
    "litgpt/adapter.py",
    "litgpt/lora.py",
    "litgpt/model.py",
    "vit_pytorch/vit.py",
    "vit_pytorch/simple_vit.py",
    "vit_pytorch/cait.py",
    "vit_pytorch/deepvit.py",
    "vit_pytorch/levit.py",
    "vit_pytorch/na_vit_nested_tensor.py",
    "vit_pytorch/mae.py",
    "vit_pytorch/t2t.py",
    "vit_pytorch/vivit.py",
    "x_transformers/autoregressive_wrapper.py",
    "x_transformers/continuous.py",
    "x_transformers/x_transformers.py",
)
WARNINGS = ("batch", "causality", "broadcast", "heads", "vocabulary")
WALL_SECONDS = 600


def install() -> None:
    """Fetch what is missing; nothing replaces the torch that is there."""
    if not CACHE.is_dir():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", CACHE, *MODELS, *IMPORTED_BY_THEM], check=True)


def told(outcome: Done) -> str:
    """What was said of one class, in a line."""
    result = outcome.result
    problem = (result.get("error") or {}).get("message") or result.get("problem") or ""
    warnings = [f"{each.get('line')}: {each.get('message')}" for each in warnings_of(outcome)]
    return "  ".join(["", f"{outcome.status:16}", f"{result.get('target')!s:32}", problem[:120], *warnings]).rstrip()


def warnings_of(outcome: Done) -> list[dict[str, object]]:
    notices = outcome.result.get("notices") or []
    return [dict(each) for each in notices if each.get("kind") in WARNINGS]


async def check(files: list[Path]) -> int:
    """Ask for each file, and count; how many classes are called wrong."""
    probe = Probe(Path(sys.executable))
    found: Counter[str] = Counter()
    wrong = 0
    for file in files:
        print(file.relative_to(CACHE))
        done = await probe.run(Request(file, None, CACHE, wall_seconds=WALL_SECONDS))
        for outcome in outcomes(done):
            print(told(outcome), flush=True)
            found[outcome.status] += 1
            wrong += outcome.status == "user_error" or bool(warnings_of(outcome))
    probe.close(10)
    print(", ".join(f"{count} {status}" for status, count in found.most_common()) + f"; {wrong} called wrong")
    return wrong


def main() -> int:
    """The exit code."""
    install()
    names = sys.argv[1:] or FILES
    return 1 if asyncio.run(check([CACHE / name for name in names])) else 0


if __name__ == "__main__":
    sys.exit(main())
