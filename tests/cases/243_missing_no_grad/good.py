import torch
from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

NAME = "unitary/toxic-bert"
app = FastAPI(title="moderation")
tokenizer = AutoTokenizer.from_pretrained(NAME)
model = AutoModelForSequenceClassification.from_pretrained(NAME)
writer_tokenizer = AutoTokenizer.from_pretrained("gpt2")
writer = AutoModelForCausalLM.from_pretrained("gpt2")


class Comment(BaseModel):
    text: str


@torch.inference_mode()
def predict(text: str) -> torch.Tensor:
    inputs = tokenizer(text, return_tensors="pt")
    return torch.sigmoid(model(**inputs).logits)[0]


@app.post("/score")
def score(comment: Comment) -> dict[str, float]:
    return dict(zip(model.config.id2label.values(), predict(comment.text).tolist()))


@app.post("/reply")
def reply(comment: Comment) -> str:
    inputs = writer_tokenizer(comment.text, return_tensors="pt")
    output = writer.generate(**inputs, max_new_tokens=40, pad_token_id=writer_tokenizer.eos_token_id)
    return writer_tokenizer.decode(output[0, inputs.input_ids.shape[1] :], skip_special_tokens=True)
