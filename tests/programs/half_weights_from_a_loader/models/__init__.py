from .loader import load_model
