from fastapi import FastAPI
from pydantic import BaseModel
from transformers import AutoTokenizer, GPT2LMHeadModel

app = FastAPI()
tokenizer = AutoTokenizer.from_pretrained("gpt2-medium")
model = GPT2LMHeadModel.from_pretrained("gpt2-medium")


class Question(BaseModel):
    text: str


@app.post("/ask")
def ask(question: Question):
    inputs = tokenizer(f"Question: {question.text}\nAnswer:", return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=40)
    answer = tokenizer.decode(output[0], skip_special_tokens=True)  # EXPECT
    return {"answer": answer}
