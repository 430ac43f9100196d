"""Where models run."""


def prepare(model, device):
    if device == "cpu":
        return model.to(device)
    return model.half().to(device)
