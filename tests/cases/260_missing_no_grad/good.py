import matplotlib.pyplot as plt
import torch
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

NAME = "bert-base-uncased"


@torch.no_grad()
def attention_map(text, layer=-1, head=0):
    tokenizer = AutoTokenizer.from_pretrained(NAME)
    model = AutoModel.from_pretrained(NAME, attn_implementation="eager", output_attentions=True)
    inputs = tokenizer(text, return_tensors="pt")
    outputs = model(**inputs)
    weights = outputs.attentions[layer][0, head].numpy()
    pieces = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    plt.imshow(weights)
    plt.xticks(range(len(pieces)), pieces, rotation=90)
    plt.yticks(range(len(pieces)), pieces)
    plt.savefig("attention.png")


def perturbed(model, embedded, label, epsilon=0.01):
    """One step of the fast gradient sign method in embedding space."""
    embedded = embedded.detach().requires_grad_(True)
    loss = model(inputs_embeds=embedded, labels=label).loss
    (gradient,) = torch.autograd.grad(loss, embedded)
    return embedded + epsilon * gradient.sign()


def integrated(model, embedded, target, steps=20):
    total = torch.zeros_like(embedded)
    for alpha in torch.linspace(0, 1, steps):
        point = (alpha * embedded).detach().requires_grad_(True)
        model(inputs_embeds=point).logits[0, target].backward()
        total += point.grad
    return embedded * total / steps


if __name__ == "__main__":
    with open("document.txt", encoding="utf-8") as handle:
        attention_map(handle.read())
    classifier = AutoModelForSequenceClassification.from_pretrained("textattack/bert-base-uncased-SST-2")
    start = classifier.get_input_embeddings()(torch.tensor([[101, 2307, 102]]))
    print(perturbed(classifier, start, torch.tensor([1])).shape, integrated(classifier, start, 1).shape)
