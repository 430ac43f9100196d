import torch

def strongest(tokenizer, model, text):
    inputs = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        output = model(**inputs, output_attentions=True)  # <- LLM208
    maps = torch.stack(output.attentions)
    return maps.mean(dim=(-1, -2)).argmax().item()
