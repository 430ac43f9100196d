import sys

from transformers import MarianMTModel, MarianTokenizer


class Translator:
    def __init__(self, source="en", target="de"):
        name = f"Helsinki-NLP/opus-mt-{source}-{target}"
        self.tokenizer = MarianTokenizer.from_pretrained(name)
        self.model = MarianMTModel.from_pretrained(name)

    def _encode(self, texts):
        return self.tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=128)  # EXPECT: silent_truncation

    def translate(self, paragraphs):
        output = self.model.generate(**self._encode(paragraphs), num_beams=5)
        return self.tokenizer.batch_decode(output, skip_special_tokens=True)


if __name__ == "__main__":
    print("\n\n".join(Translator().translate(sys.stdin.read().split("\n\n"))))
