import faiss
import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-small-en-v1.5")
model = AutoModel.from_pretrained("BAAI/bge-small-en-v1.5")
model.eval()


def mean_pooling(states, mask):
    mask = mask.unsqueeze(-1).to(states.dtype)
    return (states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)


def embed(texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    output = model(**batch)  # EXPECT: missing_no_grad
    return F.normalize(mean_pooling(output.last_hidden_state, batch["attention_mask"]), dim=1)


def build_index(documents):
    index = faiss.IndexFlatIP(384)
    for start in range(0, len(documents), 32):
        index.add(embed(documents[start : start + 32]).detach().numpy())
    return index


def search(index, question, count=5):
    return index.search(embed([question]).detach().numpy(), count)
