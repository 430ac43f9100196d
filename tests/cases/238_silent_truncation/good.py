from datasets import load_dataset
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

tokenizer = AutoTokenizer.from_pretrained("google/flan-t5-base")
LIMIT = 128


def preprocess(rows):
    inputs = tokenizer(["summarize: " + document for document in rows["document"]])
    lengths = [len(ids) for ids in tokenizer(text_target=rows["summary"])["input_ids"]]
    if max(lengths) > LIMIT:
        print(f"{sum(length > LIMIT for length in lengths)} of {len(lengths)} summaries are cut to {LIMIT} tokens")
    inputs["labels"] = tokenizer(text_target=rows["summary"], max_length=LIMIT, truncation=True)["input_ids"]
    return inputs


def main():
    rows = load_dataset("xsum").map(preprocess, batched=True, remove_columns=["document", "summary", "id"])
    model = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments("xsum", predict_with_generate=True),
        train_dataset=rows["train"],
        eval_dataset=rows["validation"],
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
    )
    trainer.train()


if __name__ == "__main__":
    main()
