from inference.generate import complete
