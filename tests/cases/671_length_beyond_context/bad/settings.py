MODEL = 'bert-base-cased'
MAX_TOKENS = 768
