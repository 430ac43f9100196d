import sys

from transformers import GPT2Tokenizer, OPTForCausalLM, set_seed


def main(prompt: str) -> None:
    set_seed(7)
    tokenizer = GPT2Tokenizer.from_pretrained("gpt2")  # EXPECT: tokenizer_model_mismatch
    model = OPTForCausalLM.from_pretrained("facebook/opt-350m")
    inputs = tokenizer(prompt, return_tensors="pt")
    generated = model.generate(**inputs, max_new_tokens=40, do_sample=True, top_p=0.9)
    print(tokenizer.decode(generated[0], skip_special_tokens=True))


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "The moon is")
