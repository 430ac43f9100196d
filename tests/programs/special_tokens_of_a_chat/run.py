from chat.tokens import chat_tokenizer
from chat.trainer import ChatTrainer
from datasets import load_dataset
from transformers import AutoModelForCausalLM, DataCollatorForLanguageModeling, TrainingArguments, set_seed

set_seed(1)
tokenizer = chat_tokenizer("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
data = load_dataset("json", data_files="chats.jsonl")["train"]
data = data.map(lambda row: tokenizer(row["text"]), remove_columns=data.column_names)
trainer = ChatTrainer(
    model=model,
    args=TrainingArguments("out"),
    train_dataset=data,
    data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
)
trainer.train()
