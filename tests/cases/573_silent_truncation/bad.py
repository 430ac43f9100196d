import pandas as pd
import torch
from transformers import AutoModel, AutoTokenizer


def features(path, name="sentence-transformers/all-MiniLM-L6-v2", step=64):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModel.from_pretrained(name)
    frame = pd.read_csv(path)
    rows = []
    for start in range(0, len(frame), step):
        texts = frame["body"].iloc[start : start + step].tolist()
        encoded = tokenizer.batch_encode_plus(
            texts, max_length=256, padding=True, truncation="longest_first", return_tensors="pt"  # EXPECT: silent_truncation
        )
        with torch.inference_mode():
            rows.append(model(**encoded).last_hidden_state[:, 0])
    return torch.cat(rows)


if __name__ == "__main__":
    torch.save(features("tickets.csv"), "tickets.pt")
