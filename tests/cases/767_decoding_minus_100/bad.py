import torch
from torch.utils.data import DataLoader
from transformers import DataCollatorForSeq2Seq, T5ForConditionalGeneration, T5TokenizerFast

NAME = "google-t5/t5-base"


@torch.no_grad()
def evaluate(rows, device="cuda"):
    tokenizer = T5TokenizerFast.from_pretrained(NAME)
    model = T5ForConditionalGeneration.from_pretrained(NAME).to(device).eval()
    collator = DataCollatorForSeq2Seq(tokenizer, model=model, return_tensors="pt")
    right = total = 0
    for batch in DataLoader(rows, batch_size=16, collate_fn=collator):
        ids = model.generate(batch["input_ids"].to(device), attention_mask=batch["attention_mask"].to(device), max_new_tokens=48)
        answers = tokenizer.batch_decode(ids, skip_special_tokens=True)
        labels = batch["labels"]
        golds = tokenizer.batch_decode(labels, skip_special_tokens=True)  # EXPECT: decoding_minus_100
        right += sum(answer == gold for answer, gold in zip(answers, golds))
        total += len(golds)
    return right / total
