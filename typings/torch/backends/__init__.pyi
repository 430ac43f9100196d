from torch.backends import mha as mha
