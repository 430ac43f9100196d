from transformers import AutoModelForSeq2SeqLM, AutoTokenizer


def load_tokenizer(name):
    return AutoTokenizer.from_pretrained(name)  # EXPECT: tokenizer_model_mismatch


def load_model(name, device="cpu"):
    model = AutoModelForSeq2SeqLM.from_pretrained(name)
    return model.to(device)


def translate(sentences, tokenizer, model):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    output = model.generate(**batch, max_new_tokens=64, num_beams=4)
    return tokenizer.batch_decode(output, skip_special_tokens=True)


def main():
    tokenizer = load_tokenizer("t5-small")
    model = load_model("google/mt5-small")
    for line in translate(["translate English to German: The house is small."], tokenizer, model):
        print(line)


if __name__ == "__main__":
    main()
