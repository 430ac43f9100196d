import json

from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, set_seed

set_seed(1)
tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
sampling = GenerationConfig(do_sample=True, temperature=0.8, max_new_tokens=60)
with open("prompts.jsonl", encoding="utf-8") as prompts:
    for line in prompts:
        inputs = tokenizer(json.loads(line)["prompt"], return_tensors="pt")
        out = model.generate(**inputs, generation_config=sampling)
        print(tokenizer.decode(out[0], skip_special_tokens=True))
