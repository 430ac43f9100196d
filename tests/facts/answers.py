"""Whether what a model has written still holds its prompt, and is taken for the answer."""
from company import score
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
flan = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
inputs = tokenizer("text", return_tensors="pt")
one = tokenizer.decode(model.generate(**inputs)[0])  # fact: holds prompt yes; is used as answer yes
print({"answer": one})
two = tokenizer.decode(model.generate(**inputs)[0])  # fact: holds prompt yes; is used as answer unknown
print(two)
three = tokenizer.decode(model.generate(**inputs)[0])  # fact: holds prompt unknown; is used as answer yes
print({"answer": three.split("text")[1]})
four = tokenizer.decode(model.generate(**inputs)[0])  # fact: holds prompt unknown
print({"answer": score(four)})
five = tokenizer.decode(model.generate(**inputs)[0])  # fact: holds prompt yes; is used as answer yes
print([{"role": "assistant", "content": five}, {"role": "user", "content": two}])
six = tokenizer.decode(model.generate(**inputs)[0])  # fact: holds prompt yes; is used as answer yes
print(six.strip() == unknown)
seven = tokenizer.decode(flan.generate(**inputs)[0])  # fact: untold holds prompt
print({"answer": seven})
output = model.generate(**inputs)
eight = tokenizer.decode(output[0][inputs["input_ids"].shape[1]:])  # fact: holds prompt unknown
print({"answer": eight})
nine = tokenizer.decode(model.generate(inputs_embeds=unknown)[0])  # fact: untold holds prompt
ten = tokenizer.decode(model.generate(**inputs, return_dict_in_generate=False)[0])  # fact: holds prompt unknown; is used as answer unknown
print(score(ten))
for either in (model, AutoModelForCausalLM.from_pretrained("distilgpt2")):
    eleven = tokenizer.decode(either.generate(**inputs)[0])  # fact: holds prompt yes; is used as answer yes
    print({"answer": eleven})
    twelve = tokenizer.decode(either.generate(**inputs)[0])  # fact: holds prompt unknown
    print({"answer": score(twelve)})
