import torch as th
from transformers import BertForMaskedLM as MLM
from transformers import BertTokenizerFast as Tok

tok = Tok.from_pretrained("bert-base-cased")
mlm = MLM.from_pretrained("bert-base-cased")


def fill(sentence, k=5):
    net = mlm.eval()
    enc = tok(sentence, return_tensors="pt")
    where = (enc.input_ids[0] == tok.mask_token_id).nonzero()[0, 0]
    scores = net(**enc).logits[0, where]  # EXPECT: missing_no_grad
    values, ids = th.topk(scores.softmax(-1), k)
    return list(zip(tok.convert_ids_to_tokens(ids), values.tolist()))


for word, p in fill(f"Paris is the {tok.mask_token} of France."):
    print(f"{word:12} {p:.3f}")
