import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
tokenizer = AutoTokenizer.from_pretrained("EleutherAI/pythia-160m")
model = AutoModelForCausalLM.from_pretrained("EleutherAI/pythia-160m").to(device)


def complete(prompt, tokens=30):
    encoded = tokenizer(prompt, return_tensors="pt")
    output = model.generate(
        encoded.input_ids.to(device),
        attention_mask=encoded.attention_mask.to(device),
        max_new_tokens=tokens,
        pad_token_id=tokenizer.eos_token_id,
    )
    return tokenizer.decode(output[0, encoded["input_ids"].shape[1] :], skip_special_tokens=True)


print(complete("The sea"))
