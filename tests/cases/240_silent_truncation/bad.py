import sys

from transformers import pipeline

summariser = pipeline("summarization", model="facebook/bart-large-cnn")


def main(path):
    with open(path, encoding="utf-8") as handle:
        article = handle.read()
    print(summariser(article, truncation=True, max_new_tokens=120)[0]["summary_text"])  # EXPECT: silent_truncation


if __name__ == "__main__":
    main(sys.argv[1])
