from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m")


def encode(row):
    ids = tokenizer(row["text"])["input_ids"]
    return {
        "input_ids": ids[:-1],
        "labels": ids[1:],  # EXPECT
    }


rows = load_dataset("text", data_files="corpus.txt", split="train").map(encode)
trainer = Trainer(model=model, args=TrainingArguments("out", per_device_train_batch_size=1), train_dataset=rows)
trainer.train()
