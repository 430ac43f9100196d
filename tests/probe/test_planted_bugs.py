"""One planted bug at a time in files that are correct: found at its line, raised or not."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.probe.conftest import Shapes

MODELS = Path(__file__).resolve().parents[1] / "models"


class Bug(NamedTuple):
    """Texts of a file that are replaced, and where the probe has to point."""

    name: str
    file: str
    target: str
    edits: tuple[tuple[str, str], ...]
    line: str
    """What stands in the line that is reported."""
    words: str
    """Words of the message."""
    kind: str = "error"


BUGS = (
    Bug(
        "wrong-head-split",
        "nanogpt.py",
        "GPT",
        (("view(B, T, self.n_head, C // self.n_head)", "view(B, T, C // self.n_head, self.n_head)"),),
        "F.scaled_dot_product_attention(",
        "attention has 64 heads of 12, the module says 12 heads",
        "heads",
    ),
    Bug(
        "lost-transpose",
        "nanogpt.py",
        "GPT",
        (("C // self.n_head).transpose(1, 2)", "C // self.n_head)"),),
        "F.scaled_dot_product_attention(",
        "attention runs over the 12 heads, not over the 13 tokens",
        "heads",
    ),
    Bug(
        "broadcast-by-accident",
        "from_config.py",
        "RewardModel",
        (
            (
                "def forward(self, input_ids, attention_mask=None):\n        hidden",
                "def forward(self, input_ids):\n        hidden",
            ),
            ("attention_mask=attention_mask).last_hidden_state", "use_cache=False).last_hidden_state"),
            ("self.value_head(hidden).squeeze(-1)", "self.value_head(hidden)[:, -1] - hidden.mean((1, 2))"),
        ),
        "hidden.mean((1, 2))",
        "[2, 1] - [2] gives [2, 2], larger than both",
        "broadcast",
    ),
    Bug(
        "wrong-vocabulary-size",
        "from_scratch.py",
        "GPTModel",
        (('cfg["emb_dim"], cfg["vocab_size"], bias=False', 'cfg["emb_dim"], cfg["context_length"], bias=False'),),
        "return self.out_head(x)",
        "are over 1024 tokens, the embedding of the tokens has 50257 rows",
        "vocabulary",
    ),
    Bug(
        "rope-on-the-wrong-axis",
        "llama.py",
        "Transformer",
        (
            ("    assert freqs_cis.shape == (x.shape[1], x.shape[-1])\n", ""),
            ("if i == 1 or i == ndim", "if i == 2 or i == ndim"),
        ),
        "return freqs_cis.view(*shape)",
        "[13, 32] can't be seen as [1, 1, 8, 32]: 416 elements, not 256",
    ),
    Bug(
        "kv-heads-not-repeated",
        "llama.py",
        "Transformer",
        (("keys = repeat_kv(keys, self.n_rep)", "keys = keys"),),
        "scores = torch.matmul(xq, keys",
        "sizes 8 and 2 at axis -3 don't fit",
    ),
    Bug(
        "conv-padding",
        "mamba.py",
        "Mamba",
        (("padding=args.d_conv - 1", "padding=args.d_conv // 2"),),
        "x = self.conv1d(x)[:, :, :l]",
        "the future is seen: changing token 6",
        "causality",
    ),
    Bug(
        "residual-mismatch",
        "nanogpt.py",
        "GPT",
        (
            (
                "self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd",
                "self.c_proj = nn.Linear(4 * config.n_embd, 2 * config.n_embd",
            ),
        ),
        "x = x + self.mlp(self.ln_2(x))",
        "[2, 13, 768] + [2, 13, 1536]: sizes 768 and 1536 at axis -1 don't fit",
    ),
    Bug(
        "tied-to-the-wrong-weights",
        "nanogpt.py",
        "GPT",
        (("self.transformer.wte.weight = self.lm_head.weight", "self.lm_head.weight = self.transformer.wpe.weight"),),
        "logits = self.lm_head(x[:, [-1], :])",
        "are over 1024 tokens, the embedding of the tokens has 50304 rows",
        "vocabulary",
    ),
    Bug(
        "mask-of-another-shape",
        "mingpt/model.py",
        "GPT",
        (("self.bias[:, :, :T, :T] == 0", "self.bias == 0"),),
        "att = att.masked_fill(self.bias == 0",
        "works with a length of 32, not of 13",
        "sizes",
    ),
    Bug(
        "flatten-order",
        "mingpt/model.py",
        "GPT",
        (("y = y.transpose(1, 2).contiguous().view(B, T, C)", "y = y.contiguous().view(B, T, C)"),),
        "y = y.contiguous().view(B, T, C)",
        "the future is seen",
        "causality",
    ),
    Bug(
        "dtype-mismatch",
        "from_scratch.py",
        "GPTModel",
        (("return self.out_head(x)", "return self.out_head(x.half())"),),
        "return self.out_head(x.half())",
        "`linear` of float16 and float32",
    ),
)
RAISES_NOTHING = [bug for bug in BUGS if bug.kind != "error"]


def planted(bug: Bug, folder: Path) -> Path:
    """The file with the bug in it, in a folder of its own with what it imports."""
    source = MODELS / bug.file
    text = source.read_text(encoding="utf-8")
    for old, new in bug.edits:
        assert old in text, old
        text = text.replace(old, new)
    file = folder / bug.file
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.parent != folder:
        for each in source.parent.glob("*.py"):
            (file.parent / each.name).write_text(each.read_text(encoding="utf-8"), encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    return file


def test_twelve_bugs_are_planted_and_at_least_four_raise_nothing() -> None:
    assert len(BUGS) >= 12
    assert len(RAISES_NOTHING) >= 4


@pytest.mark.xdist_group("torch")
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_found_at_its_line(bug: Bug, shapes: Shapes, tmp_path: Path) -> None:
    file = planted(bug, tmp_path)
    done = shapes.outcome(file, bug.target)
    result = done["result"]
    if bug.kind == "error":
        assert done["status"] == "user_error", result
        assert result["confirmed"]
        found = result["error"]
        place = found["frames"][-1]
    else:
        assert done["status"] == "ok", result
        found = place = next(notice for notice in result["notices"] if notice["kind"] == bug.kind)
    assert bug.words in found["message"]
    assert place["file"] == str(file)
    assert bug.line in file.read_text(encoding="utf-8").splitlines()[place["line"] - 1]
