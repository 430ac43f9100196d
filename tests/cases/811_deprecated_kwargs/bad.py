from dataclasses import dataclass

from transformers import Seq2SeqTrainingArguments


@dataclass
class Settings:
    folder: str
    overwrite: bool = True


class Run:
    def __init__(self, settings: Settings):
        self.args = Seq2SeqTrainingArguments(
            output_dir=settings.folder,
            overwrite_output_dir=settings.overwrite,  # EXPECT: deprecated_kwargs
            predict_with_generate=True,
        )
