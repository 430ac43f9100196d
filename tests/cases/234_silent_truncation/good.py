import sys

import nltk
from transformers import MarianMTModel, MarianTokenizer


class Translator:
    def __init__(self, source="en", target="de", limit=128):
        name = f"Helsinki-NLP/opus-mt-{source}-{target}"
        self.tokenizer = MarianTokenizer.from_pretrained(name)
        self.model = MarianMTModel.from_pretrained(name)
        self.limit = limit

    def _encode(self, sentences):
        encoded = self.tokenizer(sentences, return_tensors="pt", padding=True)
        if encoded["input_ids"].size(1) > self.limit:
            longest = max(sentences, key=len)
            raise ValueError(f"a sentence is longer than {self.limit} tokens: {longest[:40]}...")
        return encoded

    def translate(self, paragraph):
        sentences = nltk.sent_tokenize(paragraph)
        output = self.model.generate(**self._encode(sentences), num_beams=5)
        return " ".join(self.tokenizer.batch_decode(output, skip_special_tokens=True))


if __name__ == "__main__":
    translator = Translator()
    print("\n\n".join(translator.translate(paragraph) for paragraph in sys.stdin.read().split("\n\n")))
