import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

NAME = "deepset/roberta-base-squad2"


class Reader:
    def __init__(self, device=None):
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.tok = AutoTokenizer.from_pretrained(NAME)
        self.qa = AutoModelForQuestionAnswering.from_pretrained(NAME).to(self.device)

    def read(self, question, text):
        enc = self.tok(
            question,
            text,
            max_length=384,
            stride=128,
            truncation="only_second",
            return_overflowing_tokens=True,
            padding=True,
            return_tensors="pt",
        )
        enc.pop("overflow_to_sample_mapping")
        best = (float("-inf"), "")
        for ids, mask in zip(enc["input_ids"], enc["attention_mask"]):
            out = self.qa(ids[None].to(self.device), mask[None].to(self.device))  # EXPECT: missing_no_grad
            start, end = out.start_logits[0].argmax(), out.end_logits[0].argmax()
            score = float(out.start_logits[0, start] + out.end_logits[0, end])
            best = max(best, (score, self.tok.decode(ids[start : end + 1])))
        return best[1]
