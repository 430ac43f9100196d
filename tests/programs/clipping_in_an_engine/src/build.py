from transformers import AutoModelForMaskedLM


def build_model(cfg):
    return AutoModelForMaskedLM.from_pretrained(cfg.name).cuda()
