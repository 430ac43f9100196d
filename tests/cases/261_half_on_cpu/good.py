import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
on_gpu = AutoModelForCausalLM.from_pretrained("facebook/opt-350m", torch_dtype=torch.float16, device_map="cuda")
on_cpu = AutoModelForCausalLM.from_pretrained("facebook/opt-350m", torch_dtype=torch.bfloat16).to("cpu")

for model in (on_gpu, on_cpu):
    inputs = tokenizer("Hello, I am conscious and", return_tensors="pt").to(model.device)
    output = model.generate(**inputs, max_new_tokens=30)
    print(tokenizer.decode(output[0], skip_special_tokens=True))
