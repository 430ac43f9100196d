from .scores import score
