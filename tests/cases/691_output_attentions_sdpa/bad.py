import torch
from transformers import BertTokenizerFast, BertModel


class Aligner(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.bert = BertModel.from_pretrained(folder, attn_implementation="sdpa", add_pooling_layer=False)
        self.score = torch.nn.Linear(12, 1)

    def forward(self, input_ids, attention_mask):
        output = self.bert(
            input_ids=input_ids,
            attention_mask=attention_mask,
            output_attentions=True,
        )
        last = output["attentions"][-1]
        return self.score(last.permute(0, 2, 3, 1)).squeeze(-1)


def main():
    tokenizer = BertTokenizerFast.from_pretrained("runs/aligner")
    aligner = Aligner("runs/aligner")
    aligner.load_state_dict(torch.load("runs/aligner/score.pt"), strict=False)
    aligner.eval()
    with torch.inference_mode():
        inputs = tokenizer("das Haus ||| the house", return_tensors="pt")
        print(aligner(inputs["input_ids"], inputs["attention_mask"]))


main()
