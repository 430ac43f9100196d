import numpy as np
from sentence_transformers import SentenceTransformer


class Index:
    def __init__(self):
        self.model = SentenceTransformer("sentence-transformers/all-MiniLM-L6-v2")
        self.model.max_seq_length = 2000

    def search(self, documents, query):
        vectors = self.model.encode(documents, normalize_embeddings=True)
        wanted = self.model.encode([query], normalize_embeddings=True)[0]
        return documents[int(np.argmax(vectors @ wanted))]
