"""Whether the prompt that a chat template makes of a conversation begins an answer."""
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
messages = [{"role": "user", "content": "Hello"}]
ids = tokenizer.apply_chat_template(messages)  # fact: begins answer no
model.generate(ids)
ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True)  # fact: begins answer yes
model.generate(ids)
ids = tokenizer.apply_chat_template(unknown)  # fact: begins answer no
model.generate(ids)
ids = tokenizer.apply_chat_template(messages, add_generation_prompt=unknown)  # fact: begins answer unknown
model.generate(ids)
ids = tokenizer.apply_chat_template(messages, **unknown)  # fact: begins answer unknown
model.generate(ids)
ids = tokenizer.apply_chat_template([*messages, {"role": "assistant", "content": "Well"}], continue_final_message=True)  # fact: begins answer unknown
model.generate(ids)
ids = tokenizer.apply_chat_template([{"role": "assistant", "content": "Well"}])  # fact: begins answer unknown
model.generate(ids)
ids = tokenizer.apply_chat_template(messages, tokenize=False)  # fact: untold begins answer
model.generate(**tokenizer(ids + "Answer:"))
text = tokenizer.apply_chat_template(messages, tokenize=False)  # fact: begins answer no
model.generate(**tokenizer([text]))
text = tokenizer.apply_chat_template(messages, tokenize=False)  # fact: untold begins answer
print(text)
ids = tokenizer.apply_chat_template(messages, return_dict=True)  # fact: begins answer no
model.generate(**{name: tensor.to("cuda") for name, tensor in ids.items()})
text = tokenizer.apply_chat_template(messages, tokenize=False)  # fact: begins answer no
model.generate(**tokenizer([text]).to("cuda", torch.float16))
text = tokenizer.apply_chat_template(messages, tokenize=False)  # fact: untold begins answer
model.generate(**{name: tensor.to("cuda") for name, tensor in tokenizer(text + "Answer:").items()})
# ======== a template of the program's own
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
tokenizer.chat_template = unknown
model.generate(tokenizer.apply_chat_template(unknown))  # fact: begins answer unknown
