from transformers import pipeline

judge = pipeline("text-classification", model="cardiffnlp/twitter-roberta-base-sentiment-latest")


def sentiment(articles):
    results = judge(articles, truncation=True, max_length=512)  # EXPECT: silent_truncation
    return [r["label"] for r in results]


if __name__ == "__main__":
    import sys

    print(sentiment([open(p, encoding="utf-8").read() for p in sys.argv[1:]]))
