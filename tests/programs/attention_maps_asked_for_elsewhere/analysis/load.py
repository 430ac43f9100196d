from transformers import AutoModel, AutoTokenizer

def load(name="bert-base-uncased"):
    model = AutoModel.from_pretrained(name).eval()
    return AutoTokenizer.from_pretrained(name), model
