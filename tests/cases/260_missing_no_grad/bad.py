import matplotlib.pyplot as plt
from transformers import AutoModel, AutoTokenizer

NAME = "bert-base-uncased"


def attention_map(text, layer=-1, head=0):
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModel.from_pretrained(NAME, attn_implementation="eager", output_attentions=True)
    inputs = tokenizer(text, return_tensors="pt")
    outputs = model(**inputs)  # EXPECT: missing_no_grad
    weights = outputs.attentions[layer][0, head].detach().numpy()
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    plt.imshow(weights)
    plt.xticks(range(len(pieces)), pieces, rotation=90)
    plt.yticks(range(len(pieces)), pieces)
    plt.savefig("attention.png")


if __name__ == "__main__":
    with open("document.txt", encoding="utf-8") as handle:
        attention_map(handle.read())
