from analysis.heads import strongest
from analysis.load import load

tokenizer, model = load()
print(strongest(tokenizer, model, "The cat sat on the mat"))
