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
# ======== how the text begins that a template made
from company import prepare
from transformers import AutoTokenizer

llama = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")
text = llama.apply_chat_template(unknown, tokenize=False)
llama(text)  # fact: doubles bos yes
llama(text, add_special_tokens=False)  # fact: doubles bos no
llama(text, add_special_tokens=unknown)  # fact: doubles bos unknown
llama(text, **unknown)  # fact: doubles bos unknown
llama(text + llama.eos_token)  # fact: doubles bos yes
llama([text, text])  # fact: doubles bos yes
llama("a text")  # fact: untold doubles bos
texts = []
for chat in unknown:
    texts.append(llama.apply_chat_template(chat, tokenize=False))
llama(texts)  # fact: doubles bos yes
llama(f"{text} {unknown}")  # fact: doubles bos yes
qwen = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B-Instruct")
qwen(qwen.apply_chat_template(unknown, tokenize=False))  # fact: doubles bos unknown
other = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct", add_bos_token=False)
other(other.apply_chat_template(unknown, tokenize=False))  # fact: doubles bos unknown
third = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")
prepare(third)
third(third.apply_chat_template(unknown, tokenize=False))  # fact: doubles bos unknown
# ======== a part of the text is taken off
from transformers import AutoTokenizer

llama = AutoTokenizer.from_pretrained("meta-llama/Meta-Llama-3-8B-Instruct")
text = llama.apply_chat_template(unknown, tokenize=False)
llama(text.removeprefix(llama.bos_token))  # fact: untold doubles bos
llama(text.replace("<s>", ""))  # fact: doubles bos unknown
