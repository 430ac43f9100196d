from .loop import train_one_epoch
