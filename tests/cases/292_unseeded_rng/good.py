from datasets import load_dataset
from transformers import AutoModelForMaskedLM as MLM
from transformers import AutoTokenizer as Tok
from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

NAME = "distilroberta-base"


def run(path):
    tok = Tok.from_pretrained(NAME)
    net = MLM.from_pretrained(NAME)
    rows = load_dataset("text", data_files=path, split="train").shuffle(seed=0)
    rows = rows.map(lambda row: tok(row["text"]), remove_columns="text")
    rows = rows.filter(lambda row: len(row["input_ids"]) <= 512)
    trainer = Trainer(
        model=net,
        args=TrainingArguments("masked"),
        train_dataset=rows,
        data_collator=DataCollatorForLanguageModeling(tok),
    )
    trainer.train()


if __name__ == "__main__":
    run("lines.txt")
