import torch
from flask import Flask, jsonify, request
from transformers import AutoModelForSequenceClassification, AutoTokenizer

app = Flask(__name__)
NAME = "cardiffnlp/twitter-roberta-base-emotion"
model = None
tokenizer = None


def load_model():
    global model, tokenizer
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModelForSequenceClassification.from_pretrained(NAME)
    if torch.cuda.is_available():
        model = model.half().to("cuda")
    model.eval()


@app.route("/emotion", methods=["POST"])
def emotion():
    enc = tokenizer(request.json["text"], return_tensors="pt").to(model.device)
    with torch.no_grad():
        return jsonify(label=int(model(**enc).logits.argmax()))


if __name__ == "__main__":
    load_model()
    app.run()
