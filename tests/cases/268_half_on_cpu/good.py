from transformers import AutoModelForCausalLM, AutoTokenizer

GPU = {"name": "Qwen/Qwen2.5-0.5B", "dtype": "float16", "placement": "auto"}
CPU = {"name": "Qwen/Qwen2.5-0.5B", "dtype": "bfloat16", "placement": "cpu"}


def load(config):
    model = AutoModelForCausalLM.from_pretrained(
        config["name"], dtype=config["dtype"], device_map=config["placement"]
    )
    return AutoTokenizer.from_pretrained(config["name"]), model


def complete(prompt, config):
    tokenizer, model = load(config)
    inputs = tokenizer(prompt, return_tensors="pt").to(model.device)
    output = model.generate(**inputs, max_new_tokens=32)
    return tokenizer.decode(output[0], skip_special_tokens=True)


print(complete("Rivers run to the", GPU))
print(complete("Rivers run to the", CPU))
