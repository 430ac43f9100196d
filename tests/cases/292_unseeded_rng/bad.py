import torch as th
from transformers import AutoModelForMaskedLM as MLM
from transformers import AutoTokenizer as Tok

NAME = "distilroberta-base"


def mask(ids, tok, share=0.15):
    chosen = th.bernoulli(th.full(ids.shape, share)).bool()  # EXPECT: unseeded_rng
    labels = ids.masked_fill(~chosen, -100)
    return ids.masked_fill(chosen, tok.mask_token_id), labels


def run(path):
    tok = Tok.from_pretrained(NAME)
    net = MLM.from_pretrained(NAME)
    opt = th.optim.AdamW(net.parameters(), lr=5e-5)
    net.train()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            ids, labels = mask(tok(line, return_tensors="pt").input_ids, tok)
            loss = net(input_ids=ids, labels=labels).loss
            opt.zero_grad()
            loss.backward()
            opt.step()
    net.save_pretrained("masked")


if __name__ == "__main__":
    run("lines.txt")
