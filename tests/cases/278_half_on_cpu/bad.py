import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

NAME = "Helsinki-NLP/opus-mt-en-de"


class Replica:
    def __init__(self, device):
        self.device = device
        self.tokenizer = AutoTokenizer.from_pretrained(NAME)
        self.model = AutoModelForSeq2SeqLM.from_pretrained(NAME).half().to(device)  # EXPECT: half_on_cpu

    def translate(self, text):
        inputs = self.tokenizer(text, return_tensors="pt").to(self.device)
        return self.tokenizer.decode(self.model.generate(**inputs)[0], skip_special_tokens=True)


replicas = [Replica("cuda:0"), Replica("cpu")]


if __name__ == "__main__":
    for number, line in enumerate(open("lines.txt", encoding="utf-8")):
        print(replicas[number % 2].translate(line))
