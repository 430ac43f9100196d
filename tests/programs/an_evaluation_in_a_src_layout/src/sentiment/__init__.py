from .evaluation import accuracy
from .modeling import load

__all__ = ["accuracy", "load"]
