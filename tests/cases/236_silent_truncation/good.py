import torch
from flask import Flask, jsonify, request
from transformers import AutoModelForSequenceClassification, AutoTokenizer

app = Flask(__name__)
tokenizer = AutoTokenizer.from_pretrained("ProsusAI/finbert")
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert").eval()


@app.route("/sentiment", methods=["POST"])
def sentiment():
    text = request.get_json()["text"]
    whole = tokenizer(text)["input_ids"]
    encoded = tokenizer(text, truncation=True, return_tensors="pt")
    with torch.no_grad():
        logits = model(**encoded).logits
    label = model.config.id2label[logits.argmax(-1).item()]
    return jsonify(label=label, complete=len(whole) <= tokenizer.model_max_length)
