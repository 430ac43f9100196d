import numpy as np
import onnxruntime as ort
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("BAAI/bge-small-en-v1.5")
session = ort.InferenceSession("bge.onnx")


def embed(docs):
    enc = tokenizer(docs, padding=True, truncation=True, max_length=512, return_tensors="np")  # EXPECT: silent_truncation
    out = session.run(None, dict(enc))[0]
    return out[:, 0] / np.linalg.norm(out[:, 0], axis=1, keepdims=True)
