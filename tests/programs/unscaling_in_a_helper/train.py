import torch
from amp import Amp
from transformers import AutoModelForSequenceClassification

torch.manual_seed(0)
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=3).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
amp = Amp(optimizer)
for batch in torch.load("train.pt", weights_only=True):
    with torch.autocast("cuda", dtype=torch.float16):
        loss = model(**batch).loss
    amp.backward(loss)
    amp.clip(model, 1.0)
    amp.step()
    optimizer.zero_grad()
