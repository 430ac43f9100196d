from transformers import BartForConditionalGeneration, T5Tokenizer

tokenizer = T5Tokenizer.from_pretrained("t5-base")  # EXPECT: tokenizer_model_mismatch
model = BartForConditionalGeneration.from_pretrained("facebook/bart-large-cnn")


def summarise(article: str) -> str:
    ids = tokenizer.encode(article, return_tensors="pt")
    if ids.shape[1] > 1024:
        raise ValueError(f"{ids.shape[1]} tokens are more than the model reads")
    output = model.generate(ids, num_beams=4, max_length=142, min_length=56)
    return tokenizer.decode(output[0], skip_special_tokens=True)


with open("article.txt", encoding="utf-8") as handle:
    print(summarise(handle.read()))
