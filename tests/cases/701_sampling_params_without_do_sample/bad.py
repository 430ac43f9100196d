import argparse

from transformers import AutoTokenizer, GenerationConfig, OPTForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("prompt")
parser.add_argument("--temperature", type=float, default=0.8)
args = parser.parse_args()

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-1.3b")
model = OPTForCausalLM.from_pretrained("facebook/opt-1.3b")
config = GenerationConfig(
    max_new_tokens=60,
    temperature=args.temperature,  # EXPECT
)
inputs = tokenizer(args.prompt, return_tensors="pt")
output = model.generate(**inputs, generation_config=config)
print(tokenizer.decode(output[0], skip_special_tokens=True))
