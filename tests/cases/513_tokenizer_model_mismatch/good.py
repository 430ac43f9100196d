import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

MODEL = "google-bert/bert-large-uncased-whole-word-masking"


def fill(text):
    tokenizer = AutoTokenizer.from_pretrained(MODEL.replace("large", "base").removesuffix("-whole-word-masking"))
    model = AutoModelForMaskedLM.from_pretrained(MODEL)
    enc = tokenizer(text.replace("___", tokenizer.mask_token), return_tensors="pt")
    where = (enc["input_ids"][0] == tokenizer.mask_token_id).nonzero()[0, 0]
    with torch.inference_mode():
        logits = model(**enc).logits[0, where]
    return [tokenizer.decode(i) for i in logits.topk(5).indices.tolist()]


print(fill("Paris is the ___ of France."))
