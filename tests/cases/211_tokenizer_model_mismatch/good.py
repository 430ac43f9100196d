from transformers import BartForConditionalGeneration, BartTokenizer, T5ForConditionalGeneration, T5Tokenizer

tokenizer = BartTokenizer.from_pretrained("facebook/bart-large")
model = BartForConditionalGeneration.from_pretrained("sshleifer/distilbart-cnn-12-6")
t5_tokenizer = T5Tokenizer.from_pretrained("t5-base")
t5 = T5ForConditionalGeneration.from_pretrained("t5-base")


def summarise(article: str) -> str:
    ids = tokenizer.encode(article, return_tensors="pt")
    if ids.shape[1] > 1024:
        raise ValueError(f"{ids.shape[1]} tokens are more than the model reads")
    output = model.generate(ids, num_beams=4, max_length=142, min_length=56)
    return tokenizer.decode(output[0], skip_special_tokens=True)


def second_opinion(article: str) -> str:
    ids = t5_tokenizer.encode("summarize: " + article, return_tensors="pt")
    return t5_tokenizer.decode(t5.generate(ids, max_new_tokens=142)[0], skip_special_tokens=True)


with open("article.txt", encoding="utf-8") as handle:
    text = handle.read()
print(summarise(text))
print(second_opinion(text))
