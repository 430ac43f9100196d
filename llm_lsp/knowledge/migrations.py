"""Arguments that libraries have renamed or taken away, with the versions that did.

Sources: the signatures in the wheels of transformers 4.36, 4.41, 4.46, 4.49, 4.52, 4.57, 5.0, 5.10, 5.16, 5.23 and 5.24, and of trl
1.16; `gone` is the first of these that raises a TypeError, so that the argument may have gone in a version between.
"""

from __future__ import annotations

from llm_lsp.named_tuples import NamedTuple

__all__ = ["MIGRATIONS", "Migration", "takes"]


class Migration(NamedTuple):
    """An argument that is no longer accepted."""

    takers: str
    """Who took it: "arguments" of a training run, "trainer", "load", or those of trl."""
    old: str
    new: str | None
    """What it is called now; None if nothing stands for it by another name alone."""
    gone: str
    """The version from which on it raises."""
    advice: str = ""
    """What to do where it has no other name."""
    library: str = "transformers"


_EVERY = (
    Migration("arguments", "evaluation_strategy", "eval_strategy", "4.52.4"),
    Migration("arguments", "no_cuda", "use_cpu", "5.0.0"),
    Migration("arguments", "per_gpu_train_batch_size", "per_device_train_batch_size", "5.0.0"),
    Migration("arguments", "per_gpu_eval_batch_size", "per_device_eval_batch_size", "5.0.0"),
    Migration("arguments", "push_to_hub_token", "hub_token", "5.0.0"),
    Migration("trainer", "tokenizer", "processing_class", "5.0.0"),
    Migration("load", "use_auth_token", "token", "5.0.0"),
    Migration("arguments", "overwrite_output_dir", None, "5.0.0", "delete it"),
    Migration("arguments", "save_safetensors", None, "5.0.0", "delete it: weights are always saved so"),
    Migration("arguments", "adafactor", None, "5.0.0", 'pass `optim="adafactor"`'),
    Migration("arguments", "include_inputs_for_metrics", None, "5.0.0", 'pass `include_for_metrics=["inputs"]`'),
    Migration("arguments", "fp16_backend", None, "5.0.0", "delete it"),
    Migration("arguments", "half_precision_backend", None, "5.0.0", "delete it"),
    Migration("arguments", "fp16_opt_level", None, "5.0.0", "delete it"),
    Migration("arguments", "use_mps_device", None, "5.0.0", "delete it: the device is found by itself"),
    Migration("arguments", "use_ipex", None, "5.0.0", "delete it"),
    Migration("arguments", "jit_mode_eval", None, "5.0.0", "delete it"),
    Migration("arguments", "torchdynamo", None, "5.0.0", "pass `torch_compile_backend`"),
    Migration("arguments", "past_index", None, "5.0.0", "delete it"),
    Migration("arguments", "dispatch_batches", None, "4.52.4", "pass it in `accelerator_config`"),
    Migration("arguments", "split_batches", None, "4.52.4", "pass it in `accelerator_config`"),
    Migration("load", "use_flash_attention_2", None, "4.57.6", 'pass `attn_implementation="flash_attention_2"`'),
    Migration(
        "load", "load_in_8bit", None, "5.0.0", "pass `quantization_config=BitsAndBytesConfig(load_in_8bit=True)`"
    ),
    Migration(
        "load", "load_in_4bit", None, "5.0.0", "pass `quantization_config=BitsAndBytesConfig(load_in_4bit=True)`"
    ),
    Migration("trl trainer", "tokenizer", "processing_class", "1.16.0", library="trl"),
    Migration("trl arguments", "max_seq_length", "max_length", "1.16.0", library="trl"),
    Migration("sft trainer", "max_seq_length", None, "1.16.0", "pass it to `SFTConfig` as `max_length`", library="trl"),
    Migration("sft trainer", "dataset_text_field", None, "1.16.0", "pass it to `SFTConfig`", library="trl"),
    Migration("sft trainer", "packing", None, "1.16.0", "pass it to `SFTConfig`", library="trl"),
)
MIGRATIONS: dict[str, tuple[Migration, ...]] = {
    name: tuple(one for one in _EVERY if one.old == name) for name in dict.fromkeys(one.old for one in _EVERY)
}
"""By the name of the argument."""
_OF_TRL = frozenset({"SFT", "DPO", "Reward", "GRPO", "RLOO", "KTO"})
_TAKERS = {
    "arguments": frozenset({
        "transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments", *(f"trl.{name}Config" for name in _OF_TRL),
        "sentence_transformers.SentenceTransformerTrainingArguments",
    }),
    "trainer": frozenset({"transformers.Trainer", "transformers.Seq2SeqTrainer"}),
    "trl trainer": frozenset(f"trl.{name}Trainer" for name in _OF_TRL),
    "trl arguments": frozenset({"trl.SFTConfig"}),
    "sft trainer": frozenset({"trl.SFTTrainer"}),
}  # fmt: skip


def takes(takers: str, callee: str) -> bool:
    """Whether a function or class, by its qualified name, is one that took the argument."""
    if takers == "load":
        # Tokenizers and configurations swallow what they don't know.
        return callee.startswith("transformers.AutoModel") and callee.endswith(".from_pretrained")
    return callee in _TAKERS[takers]
