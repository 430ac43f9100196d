import torch
import torch.nn.functional as F
from transformers import AutoModelForSequenceClassification, set_seed


def main(training, validation):
    set_seed(7)
    teacher = AutoModelForSequenceClassification.from_pretrained("roberta-large-mnli").eval()
    student = AutoModelForSequenceClassification.from_pretrained("distilroberta-base", num_labels=3)
    optimizer = torch.optim.AdamW(student.parameters(), lr=3e-5)
    for batch in training:
        student.train()
        with torch.no_grad():
            wanted = teacher(**batch).logits
        found = F.log_softmax(student(**batch).logits, dim=-1)
        loss = F.kl_div(found, F.softmax(wanted, dim=-1), reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    agreement(teacher, student, validation)


@torch.no_grad()
def agreement(teacher, student, loader):
    student.eval()
    same = count = 0
    for batch in loader:
        labels = teacher(**batch).logits.argmax(-1)
        same += (student(**batch).logits.argmax(-1) == labels).sum().item()
        count += len(labels)
    print(f"student and teacher agree on {same / count:.1%}")
