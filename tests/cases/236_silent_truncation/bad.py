import torch
from flask import Flask, jsonify, request
from transformers import AutoModelForSequenceClassification, AutoTokenizer

app = Flask(__name__)
tokenizer = AutoTokenizer.from_pretrained("ProsusAI/finbert")
model = AutoModelForSequenceClassification.from_pretrained("ProsusAI/finbert").eval()


@app.route("/sentiment", methods=["POST"])
def sentiment():
    text = request.get_json()["text"]
    encoded = tokenizer(text, truncation=True, return_tensors="pt")  # EXPECT: silent_truncation
    with torch.no_grad():
        logits = model(**encoded).logits
    return jsonify(label=model.config.id2label[logits.argmax(-1).item()])
