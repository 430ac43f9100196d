"""Where models run."""


def prepare(model, device):
    return model.half().to(device)  # EXPECT: half_on_cpu
