from fastapi import FastAPI
from transformers import pipeline

app = FastAPI()
classify = pipeline("text-classification", model="distilbert/distilbert-base-uncased-finetuned-sst-2-english")


def checked(text):
    result = classify(text)[0]
    if result["score"] < 0.5:
        breakpoint()  # EXPECT: debugger_leftover
    return result


@app.post("/classify")
def handle(text: str):
    return checked(text)
