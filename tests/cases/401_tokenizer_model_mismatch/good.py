from datasets import load_dataset
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    Trainer,
    TrainingArguments,
)

CHECKPOINT = "distilroberta-base"


def main():
    tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
    pieces = AutoTokenizer.from_pretrained("bert-base-uncased")
    model = AutoModelForMaskedLM.from_pretrained(CHECKPOINT)
    rows = load_dataset("text", data_files="corpus.txt", split="train")
    print("WordPiece would need", sum(len(pieces.tokenize(text)) for text in rows["text"]), "pieces")
    rows = rows.map(lambda row: tokenizer(row["text"]), remove_columns="text")
    trainer = Trainer(
        model=model,
        args=TrainingArguments("out"),
        train_dataset=rows.filter(lambda row: len(row["input_ids"]) < 512),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15),
    )
    trainer.train()


if __name__ == "__main__":
    main()
