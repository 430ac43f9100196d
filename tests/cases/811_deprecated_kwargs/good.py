from dataclasses import dataclass

from transformers import Seq2SeqTrainingArguments


@dataclass
class Settings:
    folder: str
    overwrite_output_dir: bool = True


class Run:
    def __init__(self, folder):
        self.settings = Settings(folder, overwrite_output_dir=True)
        self.args = Seq2SeqTrainingArguments(output_dir=self.settings.folder, predict_with_generate=True)
