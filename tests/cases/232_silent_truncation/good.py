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
            truncation="only_second",
            max_length=384,
            stride=128,
            return_overflowing_tokens=True,
            padding="max_length",
            return_tensors="pt",
        )
        inputs.pop("overflow_to_sample_mapping")
        with torch.no_grad():
            outputs = self.model(**inputs)
        scores = outputs.start_logits.max(-1).values + outputs.end_logits.max(-1).values
        window = int(scores.argmax())
        start = int(outputs.start_logits[window].argmax())
        end = int(outputs.end_logits[window].argmax())
        return self.tokenizer.decode(inputs["input_ids"][window, start : end + 1])


if __name__ == "__main__":
    with open("manual.txt", encoding="utf-8") as handle:
        print(Reader().answer("How is the pump bled?", handle.read()))
