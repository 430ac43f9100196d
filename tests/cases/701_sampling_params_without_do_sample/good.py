import argparse

from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig, set_seed

parser = argparse.ArgumentParser()
parser.add_argument("prompt")
parser.add_argument("--model", default="facebook/opt-1.3b")
parser.add_argument("--temperature", type=float, default=0.8)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

set_seed(args.seed)
tokenizer = AutoTokenizer.from_pretrained(args.model)
model = AutoModelForCausalLM.from_pretrained(args.model)
config = GenerationConfig.from_pretrained(args.model)
config.temperature = args.temperature
inputs = tokenizer(args.prompt, return_tensors="pt")
output = model.generate(**inputs, generation_config=config, max_new_tokens=60)
print(tokenizer.decode(output[0], skip_special_tokens=True))
output = model.generate(**inputs, do_sample=args.temperature > 0, temperature=args.temperature, max_new_tokens=60)
print(tokenizer.decode(output[0], skip_special_tokens=True))
