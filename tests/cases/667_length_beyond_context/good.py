import sys

from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2LMHeadModel, GPT2Tokenizer


def continue_story(path):
    tokenizer = GPT2Tokenizer.from_pretrained("gpt2-large")
    model = GPT2LMHeadModel.from_pretrained("gpt2-large").eval()
    with open(path, encoding="utf-8") as handle:
        story = handle.read()
    inputs = tokenizer(story, return_tensors="pt")
    output = model.generate(
        **inputs,
        max_length=model.config.n_positions,
        num_beams=4,
        pad_token_id=tokenizer.eos_token_id,
    )
    return tokenizer.decode(output[0])


def longer(story):
    tokenizer = AutoTokenizer.from_pretrained("meta-llama/Llama-3.1-8B")
    model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-3.1-8B", device_map="auto")
    inputs = tokenizer(story, return_tensors="pt").to(model.device)
    return tokenizer.decode(model.generate(**inputs, max_new_tokens=4096, do_sample=False)[0])


if __name__ == "__main__":
    print(continue_story(sys.argv[1]))
