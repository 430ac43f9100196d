import torch as th
from torch import no_grad as frozen
from transformers import BertForMaskedLM as MLM
from transformers import BertTokenizerFast as Tok

tok = Tok.from_pretrained("bert-base-cased")
mlm = MLM.from_pretrained("bert-base-cased")


@frozen()
def fill(sentence, k=5):
    net = mlm.eval()
    enc = tok(sentence, return_tensors="pt")
    where = (enc.input_ids[0] == tok.mask_token_id).nonzero()[0, 0]
    scores = net(**enc).logits[0, where]
    values, ids = th.topk(scores.softmax(-1), k)
    return list(zip(tok.convert_ids_to_tokens(ids), values.tolist()))


def saliency(sentence):
    """How much each piece moves the best score."""
    enc = tok(sentence, return_tensors="pt")
    embedded = mlm.get_input_embeddings()(enc.input_ids).detach().requires_grad_()
    out = mlm(inputs_embeds=embedded, attention_mask=enc.attention_mask)
    out.logits.max(-1).values.sum().backward()
    return embedded.grad.norm(dim=-1)[0].tolist()


for word, p in fill(f"Paris is the {tok.mask_token} of France."):
    print(f"{word:12} {p:.3f}")
print(saliency("Paris is large."))
