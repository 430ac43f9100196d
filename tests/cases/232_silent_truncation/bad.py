import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

CHECKPOINT = "distilbert-base-cased-distilled-squad"


class Reader:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained(CHECKPOINT)
        self.model = AutoModelForQuestionAnswering.from_pretrained(CHECKPOINT)

    def answer(self, question, context):
        inputs = self.tokenizer(
            question,
            context,
            truncation="only_second",  # EXPECT: silent_truncation
            max_length=384,
            return_tensors="pt",
        )
        with torch.no_grad():
            outputs = self.model(**inputs)
        start = int(outputs.start_logits.argmax())
        end = int(outputs.end_logits.argmax())
        return self.tokenizer.decode(inputs["input_ids"][0, start : end + 1])


if __name__ == "__main__":
    with open("manual.txt", encoding="utf-8") as handle:
        print(Reader().answer("How is the pump bled?", handle.read()))
