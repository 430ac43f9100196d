import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from transformers import AutoModel, AutoTokenizer

from reviews import load_reviews

device = "cuda" if torch.cuda.is_available() else "cpu"
tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
model = AutoModel.from_pretrained("distilbert-base-uncased").to(device)


def features(texts):
    inputs = tokenizer(texts, padding=True, return_tensors="pt").to(device)
    hidden = model(**inputs).last_hidden_state  # EXPECT: missing_no_grad
    return hidden[:, 0].detach().cpu().numpy()


if __name__ == "__main__":
    texts, labels = load_reviews()
    matrix = np.concatenate([features(texts[i : i + 64]) for i in range(0, len(texts), 64)])
    print(LogisticRegression(max_iter=1000).fit(matrix, labels).score(matrix, labels))
