from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m")


def encode(row):
    ids = tokenizer(row["text"])["input_ids"]
    return {"input_ids": ids, "labels": list(ids)}


rows = load_dataset("text", data_files="corpus.txt", split="train").map(encode)
trainer = Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=1), train_dataset=rows)
trainer.train()


def loss(ids, target):
    translator = AutoModelForSeq2SeqLM.from_pretrained("google-t5/t5-small")
    return translator(input_ids=ids, decoder_input_ids=target[:, :-1], labels=target[:, 1:]).loss
