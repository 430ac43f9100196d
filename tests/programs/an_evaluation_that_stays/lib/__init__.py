from lib.metrics import perplexity
