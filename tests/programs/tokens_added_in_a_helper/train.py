import argparse
from data.special import extend
from modeling.load import load_model, load_tokenizer

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", default="gpt2")
    args = parser.parse_args()
    tokenizer = load_tokenizer(args.base)
    model = load_model(args.base)
    extend(tokenizer)
    batch = tokenizer("Hello <user> there", return_tensors="pt")
    loss = model(**batch, labels=batch["input_ids"]).loss
    loss.backward()

if __name__ == "__main__":
    main()
