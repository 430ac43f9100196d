MODELS = {"small": "t5-small", "large": "t5-large"}
