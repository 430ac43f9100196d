import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

DEVICE = "cpu"

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m", torch_dtype=torch.float16)  # EXPECT: half_on_cpu
model.to(DEVICE)

inputs = tokenizer("Hello, I am conscious and", return_tensors="pt").to(DEVICE)
output = model.generate(**inputs, max_new_tokens=30)
print(tokenizer.decode(output[0], skip_special_tokens=True))
