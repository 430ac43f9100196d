from .evaluate import evaluate
from .train import train_epoch
