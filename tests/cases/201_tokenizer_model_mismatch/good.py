import sys

from transformers import GPT2LMHeadModel, GPT2Tokenizer, OPTForCausalLM, set_seed


def complete(tokenizer, model, prompt: str) -> str:
    inputs = tokenizer(prompt, return_tensors="pt")
    generated = model.generate(**inputs, max_new_tokens=40, do_sample=True, top_p=0.9)
    return tokenizer.decode(generated[0], skip_special_tokens=True)


def main(prompt: str) -> None:
    set_seed(7)
    opt_tokenizer = GPT2Tokenizer.from_pretrained("facebook/opt-350m")
    opt = OPTForCausalLM.from_pretrained("facebook/opt-350m")
    print(complete(opt_tokenizer, opt, prompt))
    small_tokenizer = GPT2Tokenizer.from_pretrained("gpt2")
    small = GPT2LMHeadModel.from_pretrained("distilgpt2")
    print(complete(small_tokenizer, small, prompt))


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "The moon is")
