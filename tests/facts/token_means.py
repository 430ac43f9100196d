"""Whether a mean over tokens counts the padding."""
import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased")

def padded(texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    output = model(**batch)
    output.last_hidden_state.mean(1)  # fact: counts padding yes
    output[0].mean(dim=1)  # fact: counts padding yes
    output.hidden_states[-2].mean(dim=-2)  # fact: counts padding yes
    ((output.hidden_states[0] + output.hidden_states[-1]) / 2).mean(dim=1)  # fact: counts padding yes
    torch.stack(output.hidden_states, 1).mean(1)  # fact: untold counts padding
    output.last_hidden_state.mean(dim=unknown)  # fact: untold counts padding
    output.pooler_output.mean(1)  # fact: untold counts padding
    (output.last_hidden_state * batch["attention_mask"].unsqueeze(-1)).mean(1)  # fact: untold counts padding
    output.last_hidden_state[:, 0].mean(1)  # fact: untold counts padding

def single(text):
    model(**tokenizer(text, return_tensors="pt")).last_hidden_state.mean(1)  # fact: counts padding unknown
    model(**tokenizer(text, padding=True, return_tensors="pt")).last_hidden_state.mean(1)  # fact: counts padding unknown
    model(**tokenizer(text, padding="max_length", return_tensors="pt")).last_hidden_state.mean(1)  # fact: counts padding yes

def given(input_ids, attention_mask, pixels):
    model(input_ids, attention_mask=attention_mask).last_hidden_state.mean(1)  # fact: counts padding yes
    model(input_ids).last_hidden_state.mean(1)  # fact: counts padding unknown
    model(pixels, attention_mask=attention_mask).last_hidden_state.mean(1)  # fact: counts padding unknown
    model(input_ids, attention_mask=torch.ones(1)).last_hidden_state.mean(1)  # fact: counts padding unknown

def taken_out(texts):
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    states = model(**batch).last_hidden_state
    states[batch["attention_mask"] == 0] = 0
    states.mean(1)  # fact: counts padding unknown
    other = model(**batch).last_hidden_state
    other.masked_fill_(batch["attention_mask"].unsqueeze(-1) == 0, 0)
    other.mean(1)  # fact: counts padding unknown
