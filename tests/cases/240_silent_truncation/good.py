import sys

from nltk import sent_tokenize
from transformers import pipeline

summariser = pipeline("summarization", model="facebook/bart-large-cnn")


def pieces(article, limit=900):
    piece, used = [], 0
    for sentence in sent_tokenize(article):
        count = len(summariser.tokenizer(sentence)["input_ids"])
        if piece and used + count > limit:
            yield " ".join(piece)
            piece, used = [], 0
        piece.append(sentence)
        used += count
    if piece:
        yield " ".join(piece)


def main(path):
    with open(path, encoding="utf-8") as handle:
        article = handle.read()
    for piece in pieces(article):
        print(summariser(piece, truncation=True, max_new_tokens=120)[0]["summary_text"])


if __name__ == "__main__":
    main(sys.argv[1])
