"""LLM801 removed-argument."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Report, Rule, Severity


class RemovedArgument(Rule):
    """An argument is gone in the version of transformers that the project works with: the call raises.

    `TrainingArguments(overwrite_output_dir=True)` and its like stood in most training scripts; transformers 5 took them away,
    and stops with "TypeError: unexpected keyword argument". Some did nothing any more and can be deleted, others have become a
    value of another argument, as the help of the report says.

    The versions come from the project's requirements, its lock file, its environment, or a notebook's `pip install`. Where
    nothing says, the newest release is meant; a project that may run with a release that takes the argument is left alone.
    """

    code = "LLM801"
    severity = Severity.ERROR
    triggers = (
        "overwrite_output_dir", "save_safetensors", "adafactor", "include_inputs_for_metrics", "fp16_backend", "half_precision_backend", "fp16_opt_level",
        "use_mps_device", "use_ipex", "jit_mode_eval", "torchdynamo", "past_index", "dispatch_batches", "split_batches", "use_flash_attention_2",
        "load_in_", "max_seq_length", "dataset_text_field", "packing",
    )  # fmt: skip
    bad = [
        Bad("""\
from transformers import AutoModelForCausalLM, TrainingArguments

def prepare(folder):
    model = AutoModelForCausalLM.from_pretrained("gpt2", use_flash_attention_2=True)  # <- `use_flash_attention_2` is gone since
    args = TrainingArguments(
        folder,
        overwrite_output_dir=True,  # <- `overwrite_output_dir` is gone since transformers 5.0.0
        adafactor=True,  # <- `adafactor` is gone
    )
    return model, args
"""),
        Bad("""\
from trl import SFTConfig, SFTTrainer

def tune(model, dataset):
    for length in (512, 1024):
        trainer = SFTTrainer(
            model,
            train_dataset=dataset,
            args=SFTConfig("out"),
            max_seq_length=length,  # <- `max_seq_length` is gone since trl 1.16.0
        )
        trainer.train()
"""),
        Bad(
            {
                "train.ipynb": [
                    "from transformers import Seq2SeqTrainingArguments as Arguments",
                    "class Run:\n    args = Arguments('out', save_safetensors=True)  # <- `save_safetensors` is gone",
                ]
            }
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForCausalLM, TrainingArguments

def prepare(folder):
    model = AutoModelForCausalLM.from_pretrained("gpt2", attn_implementation="flash_attention_2")
    return model, TrainingArguments(folder, optim="adafactor", eval_strategy="epoch")
"""),
        Good(
            """\
from transformers import TrainingArguments

args = TrainingArguments("out", overwrite_output_dir=True, half_precision_backend="auto")
""",
            versions={"transformers": ">=4.40,<5"},
        ),
        # Classes of the program.
        Good("""\
from dataclasses import dataclass

from transformers import TrainingArguments

@dataclass
class Settings:
    overwrite_output_dir: bool = False

def prepare(folder):
    settings = Settings(overwrite_output_dir=True)
    return settings, TrainingArguments(folder)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for gone in facts.gone_arguments():
            if gone.new is None and gone.is_refused is YES:
                yield self.report(
                    gone.place,
                    f"`{gone.old}` is gone since {gone.library} {gone.gone}, which raises",
                    help=gone.advice,
                )
