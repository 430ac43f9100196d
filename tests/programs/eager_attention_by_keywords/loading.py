from transformers import AutoModel, AutoTokenizer

OPTIONS = {"attn_implementation": "eager"}

def load(name, **more):
    return AutoTokenizer.from_pretrained(name), AutoModel.from_pretrained(name, **{**OPTIONS, **more})
