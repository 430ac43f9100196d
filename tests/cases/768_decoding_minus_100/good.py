from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, Seq2SeqTrainer, Seq2SeqTrainingArguments


class Translator:
    def __init__(self, folder):
        self.tokenizer = AutoTokenizer.from_pretrained("Helsinki-NLP/opus-mt-de-en")
        model = AutoModelForSeq2SeqLM.from_pretrained("Helsinki-NLP/opus-mt-de-en")
        arguments = Seq2SeqTrainingArguments(folder, predict_with_generate=True, seed=5)
        self.trainer = Seq2SeqTrainer(model, arguments)

    def write(self, rows, path):
        output = self.trainer.predict(rows)
        for ids in (output.predictions, output.label_ids):
            ids[ids == -100] = self.tokenizer.pad_token_id
        written = self.tokenizer.batch_decode(output.predictions, skip_special_tokens=True)
        wanted = self.tokenizer.batch_decode(output.label_ids, skip_special_tokens=True)
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{one}\t{other}\n" for one, other in zip(written, wanted))
