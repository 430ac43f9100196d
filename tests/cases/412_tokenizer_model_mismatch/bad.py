from concurrent.futures import ThreadPoolExecutor

from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")  # EXPECT: tokenizer_model_mismatch
model = AutoModelForCausalLM.from_pretrained("bigscience/bloom-560m")
pool = ThreadPoolExecutor(max_workers=1)


def ask(question):
    inputs = tokenizer(question, return_tensors="pt")
    job = pool.submit(model.generate, **inputs, max_new_tokens=30)
    return tokenizer.decode(job.result()[0], skip_special_tokens=True)
