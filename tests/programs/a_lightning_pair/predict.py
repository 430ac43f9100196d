from lit_model import Classifier
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = Classifier.load_from_checkpoint("last.ckpt")
with open("texts.txt") as lines:
    for line in lines:
        print(model.predict(tokenizer, [line.strip()]))
