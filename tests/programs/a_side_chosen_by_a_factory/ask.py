import sys

from llm.generate import answer
from llm.tokenizers import build_tokenizer
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer = build_tokenizer("gpt2", for_generation=True)
for text in answer(model, tokenizer, sys.argv[1:]):
    print(text)
