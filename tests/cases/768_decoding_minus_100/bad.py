import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments


class Translator:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained("Helsinki-NLP/opus-mt-de-en")
        model = AutoModelForSeq2SeqLM.from_pretrained("Helsinki-NLP/opus-mt-de-en")
        arguments = Seq2SeqTrainingArguments(folder, predict_with_generate=True, seed=5)
        self.trainer = Seq2SeqTrainer(model, arguments)

    def write(self, rows, path):
        output = self.trainer.predict(rows)
        predictions = np.where(output.predictions < 0, self.tokenizer.pad_token_id, output.predictions)
        written = self.tokenizer.batch_decode(predictions, skip_special_tokens=True)
        wanted = self.tokenizer.batch_decode(output.label_ids, skip_special_tokens=True)  # EXPECT: decoding_minus_100
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{one}\t{other}\n" for one, other in zip(written, wanted))
