from transformers import pipeline

judge = pipeline("text-classification", model="cardiffnlp/twitter-roberta-base-sentiment-latest")


def sentiment(articles):
    labels = []
    for article in articles:
        size = len(judge.tokenizer(article)["input_ids"])
        if size > 512:
            print(f"only 512 of {size} tokens are read")
        labels.append(judge(article, truncation=True, max_length=512)[0]["label"])
    return labels


if __name__ == "__main__":
    import sys

    print(sentiment([open(p, encoding="utf-8").read() for p in sys.argv[1:]]))
