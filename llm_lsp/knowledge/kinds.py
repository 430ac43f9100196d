"""What an instance of a library's class is, by the name of the class.

Sources as in `library.py`.
"""

from __future__ import annotations

from functools import cache

from llm_lsp.knowledge.library import SCALERS

__all__ = ["FRAMEWORK_ROOTS", "LOSSES", "kind_of"]

FRAMEWORK_ROOTS = frozenset(
    {"transformers", "peft", "diffusers", "trl", "adapters", "optimum", "auto_gptq", "awq", "unsloth", "modelscope"}
)

_ENDINGS = (
    ("processor", ("Processor", "FeatureExtractor")),
    ("config", ("Config", "TrainingArguments")),
    ("pipeline", ("Pipeline", "pipeline")),
)
_WORDS = (("tokenizer", "Tokenizer"), ("trainer", "Trainer"))
_AUTO_MODELS = ("AutoModel", "AutoPeftModel", "FastLanguageModel", "AutoBackbone")
_NO_MODELS = ("DataCollator", "StoppingCriteria", "LogitsProcessor")
_MODEL_ENDINGS = (
    "Model",
    "ForCausalLM",
    "LMHeadModel",
    "PreTrainedModel",
    "WithValueHead",
    "WithProjection",
    "DoubleHeadsModel",
    "ForConditionalGeneration",
    "LM",
)
LOSSES = frozenset(
    f"torch.nn.{name}Loss"
    for name in (
        "CrossEntropy", "NLL", "BCE", "BCEWithLogits", "MSE", "L1", "SmoothL1", "Huber", "KLDiv", "CTC", "CosineEmbedding", "MarginRanking",
        "TripletMargin", "HingeEmbedding", "MultiLabelSoftMargin", "MultiMargin", "PoissonNLL", "GaussianNLL",
    )
)  # fmt: skip


@cache
def kind_of(name: str) -> str | None:
    """What an instance of the class is, or None.

    One of "model", "tokenizer", "processor", "config", "optimizer", "scaler", "loss", "module", "trainer", "pipeline",
    "embedder", "fast tokenizer". By exact name where a table has it, by the ending that transformers' own classes keep
    otherwise.
    """
    root, _, rest = name.partition(".")
    last = rest.rpartition(".")[2] or root
    if root in FRAMEWORK_ROOTS:
        return _kind_in_framework(last)
    if root == "torch":
        return _kind_in_torch(name, last)
    if name.startswith("torchvision.models."):
        return "model" if last[:1].islower() and not last.startswith(("get_", "list_")) else None
    if name.startswith("bitsandbytes.optim."):
        return "optimizer"
    if root == "litgpt":
        return "model" if last == "GPT" else None
    if root == "sentence_transformers":
        return "embedder" if last in {"SentenceTransformer", "CrossEncoder", "SparseEncoder"} else None
    return "fast tokenizer" if root == "tokenizers" else None


def _kind_in_framework(last: str) -> str | None:
    for kind, endings in _ENDINGS:
        if last.endswith(endings):
            return kind
    for kind, word in _WORDS:
        if word in last:
            return kind
    if last.startswith(_NO_MODELS):
        return None
    if last in {"AdamW", "Adafactor"}:
        return "optimizer"
    is_model = last.startswith(_AUTO_MODELS) or last.endswith(_MODEL_ENDINGS) or "For" in last[1:]
    return "model" if is_model else None


def _kind_in_torch(name: str, last: str) -> str | None:
    if name in LOSSES:
        return "loss"
    if name in SCALERS:
        return "scaler"
    if name.startswith("torch.optim.") and not name.startswith("torch.optim.lr_scheduler"):
        return "optimizer"
    is_module = name.startswith("torch.nn.") and name.count(".") == 2 and last[:1].isupper() and last != "Parameter"
    return "module" if is_module else None
