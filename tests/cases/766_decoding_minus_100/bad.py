import numpy as np
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments


def build_metrics(tokenizer, rouge):
    def compute(eval_pred):
        predictions, labels = eval_pred.predictions, eval_pred.label_ids
        predictions = np.where(predictions != -100, predictions, tokenizer.pad_token_id)
        written = tokenizer.batch_decode(predictions, skip_special_tokens=True)
        wanted = tokenizer.batch_decode(labels, skip_special_tokens=True)  # EXPECT: decoding_minus_100
        return rouge.compute(predictions=written, references=wanted)

    return compute


def main(train, test, rouge):
    name = "facebook/bart-base"
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForSeq2SeqLM.from_pretrained(name)
    trainer = Seq2SeqTrainer(
        model=model,
        args=Seq2SeqTrainingArguments("summaries", predict_with_generate=True),
        train_dataset=train,
        eval_dataset=test,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        compute_metrics=build_metrics(tokenizer, rouge),
    )
    trainer.train()
