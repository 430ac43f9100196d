import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

NAME = "OpenAssistant/reward-model-deberta-v3-large-v2"
tokenizer = AutoTokenizer.from_pretrained(NAME)
judge = AutoModelForSequenceClassification.from_pretrained(NAME).cuda().eval()


@torch.no_grad()
def rewards(questions, answers):
    too_long = [row for row, ids in enumerate(tokenizer(questions, answers).input_ids) if len(ids) > 512]
    if too_long:
        raise ValueError(f"rows {too_long} don't fit")
    batch = tokenizer(
        questions,
        answers,
        return_tensors="pt",
        padding=True,
        truncation=True,
        max_length=512,
    ).to("cuda")
    return judge(**batch).logits[:, 0].tolist()
