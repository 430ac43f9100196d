"""What library functions return and do is data: kinds, states, what is called back, and what nobody knows of."""
import numpy as np
import torch
import torch.nn.functional as F
from sentence_transformers import SentenceTransformer
from torch import nn
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    BertConfig,
    BertModel,
    BitsAndBytesConfig,
    GPT2LMHeadModel,
    LlamaForCausalLM,
)

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = GPT2LMHeadModel.from_pretrained("gpt2")
model(1)  # fact: loaded as `gpt2`; is in evaluation mode yes; dtype unknown
BertModel(BertConfig())(1)  # fact: is in evaluation mode no; device cpu
LlamaForCausalLM.from_pretrained(unknown)(1)  # fact: is in evaluation mode yes; dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype=torch.bfloat16)(1)  # fact: dtype bfloat16
AutoModelForCausalLM.from_pretrained("gpt2", dtype="float16")(1)  # fact: dtype float16
AutoModelForCausalLM.from_pretrained("gpt2", dtype="auto")(1)  # fact: dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", device_map="auto")(1)  # fact: device auto
AutoModelForCausalLM.from_pretrained("gpt2", quantization_config=BitsAndBytesConfig(load_in_4bit=True))(1)  # fact: dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", **unknown)(1)  # fact: dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2").half().cuda()(1)  # fact: dtype float16; device cuda
AutoModelForCausalLM.from_pretrained("gpt2").to("cuda", torch.float16)(1)  # fact: dtype float16; device cuda
AutoModelForCausalLM.from_pretrained("gpt2").to(unknown)(1)  # fact: device unknown; dtype unknown
AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16).float()(1)  # fact: dtype float32
print(tokenizer)  # fact: passed transformers.AutoTokenizer of line 17
print(tokenizer("text"))  # fact: passed some transformers.BatchEncoding
print(tokenizer.encode("text"))  # fact: passed some transformers.BatchEncoding
print(tokenizer.decode([1]))  # fact: passed unknown
print(tokenizer.pad_token_id)  # fact: passed `transformers.AutoTokenizer.pad_token_id` from outside
print(SentenceTransformer("all-MiniLM-L6-v2"))  # fact: passed sentence_transformers.SentenceTransformer of line 37
print(torch.device("cuda"))  # fact: passed some torch.device
print(nn.Linear(1, 1))  # fact: passed torch.nn.Linear of line 39
print(torch.zeros(1))  # fact: passed some torch.zeros
print(np.array([1]))  # fact: passed some numpy.array
print(F.softmax(torch.zeros(1)))  # fact: passed some torch.nn.functional.softmax
print(company.load())  # fact: passed unknown
print(torch.load("x"))  # fact: passed some torch.load
optimizer = torch.optim.AdamW(model.parameters())
print(optimizer)  # fact: passed torch.optim.AdamW of line 45
print(model.config)  # fact: passed `transformers.GPT2LMHeadModel.config` from outside
print(model.generate(1))  # fact: passed unknown
print(model.unknown_method())  # fact: passed unknown
print(unknown.from_pretrained("gpt2"))  # fact: passed unknown
