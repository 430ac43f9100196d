import torch
from loading import load

tokenizer, model = load("bert-base-uncased")
inputs = tokenizer("The cat sat on the mat", return_tensors="pt")
with torch.no_grad():
    output = model(**inputs, output_attentions=True)
print(torch.stack(output.attentions).shape)
