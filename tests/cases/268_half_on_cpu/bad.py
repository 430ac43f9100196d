from transformers import AutoModelForCausalLM, AutoTokenizer

CONFIG = {"name": "Qwen/Qwen2.5-0.5B", "dtype": "float16", "placement": "cpu"}


def load(config=CONFIG):
    model = AutoModelForCausalLM.from_pretrained(  # EXPECT: half_on_cpu
        config["name"], dtype=config["dtype"], device_map=config["placement"]
    )
    return AutoTokenizer.from_pretrained(config["name"]), model


def complete(prompt):
    tokenizer, model = load()
    inputs = tokenizer(prompt, return_tensors="pt")
    output = model.generate(**inputs, max_new_tokens=32)
    return tokenizer.decode(output[0], skip_special_tokens=True)


print(complete("Rivers run to the"))
