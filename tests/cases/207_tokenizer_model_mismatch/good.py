from transformers import AutoModelForSeq2SeqLM, AutoTokenizer


def load_tokenizer(name):
    return AutoTokenizer.from_pretrained(name)


def load_model(name, device="cpu"):
    model = AutoModelForSeq2SeqLM.from_pretrained(name)
    return model.to(device)


def translate(sentences, tokenizer, model):
    batch = tokenizer(sentences, padding=True, return_tensors="pt")
    output = model.generate(**batch, max_new_tokens=64, num_beams=4)
    return tokenizer.batch_decode(output, skip_special_tokens=True)


def main():
    english = load_tokenizer("t5-small")
    flan = load_model("google/flan-t5-base")
    multilingual = load_tokenizer("google/mt5-small")
    mt5 = load_model("google/mt5-small")
    sentence = "translate English to German: The house is small."
    print(translate([sentence], english, flan))
    print(translate([sentence], multilingual, mt5))


if __name__ == "__main__":
    main()
