import config
from transformers import AutoModel


def build_model():
    return AutoModel.from_pretrained(config.MODEL).eval()
