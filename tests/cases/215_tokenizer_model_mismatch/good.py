import torch
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

ENCODERS = ["allenai/scibert_scivocab_uncased", "bert-base-cased", "roberta-base"]


def abstract_vectors(abstracts):
    rows = []
    for name in ENCODERS:
        tokenizer = AutoTokenizer.from_pretrained(pretrained_model_name_or_path=name)
        encoder = AutoModel.from_pretrained(pretrained_model_name_or_path=name)
        with torch.no_grad():
            batch = tokenizer(abstracts, padding="longest", return_tensors="pt")
            rows.append(encoder(**batch).last_hidden_state[:, 0])
    return torch.cat(rows, dim=-1)


def continue_abstract(start):
    tokenizer = AutoTokenizer.from_pretrained("facebook/opt-350m")
    model = AutoModelForCausalLM.from_pretrained("facebook/opt-350m")
    draft = AutoModelForCausalLM.from_pretrained("facebook/opt-125m")
    inputs = tokenizer(start, return_tensors="pt")
    output = model.generate(**inputs, assistant_model=draft, max_new_tokens=30)
    return tokenizer.decode(output[0], skip_special_tokens=True)


print(abstract_vectors(["We study the folding of proteins."]).shape)
print(continue_abstract("We study the folding of"))
