"""Of which type the elements of a tensor are that becomes an array."""
import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer
from things import inputs, measure, settings, weights

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
model = AutoModel.from_pretrained("bert-base-uncased", dtype=torch.bfloat16).to("cuda")
output = model(**inputs)
hidden = output.last_hidden_state
hidden.numpy()  # fact: of bfloat16 yes
hidden[:, 0].detach().cpu().numpy()  # fact: of bfloat16 yes
output[0].numpy(force=True)  # fact: of bfloat16 yes
hidden[torch.arange(2), inputs.lengths].numpy()  # fact: of bfloat16 yes
F.normalize(hidden.mean(1), dim=-1).to("cpu").numpy()  # fact: of bfloat16 yes
torch.cat([hidden, hidden]).numpy()  # fact: of bfloat16 yes
(hidden / hidden.norm(dim=-1, keepdim=True) * 2).numpy()  # fact: of bfloat16 yes
hidden.float().numpy()  # fact: of bfloat16 unknown
hidden.to(torch.float32).numpy()  # fact: of bfloat16 unknown
hidden.to(settings.dtype).numpy()  # fact: of bfloat16 unknown
(hidden * weights).numpy()  # fact: of bfloat16 unknown
(hidden * torch.ones(3)).numpy()  # fact: of bfloat16 unknown
measure(hidden).numpy()  # fact: of bfloat16 unknown
output.loss.numpy()  # fact: of bfloat16 unknown
hidden.argmax(-1).numpy()  # fact: of bfloat16 unknown
hidden.max(-1).indices.numpy()  # fact: of bfloat16 unknown
model(labels=weights, **inputs)[0].numpy()  # fact: of bfloat16 unknown
with torch.autocast("cuda", dtype=torch.float16):
    model(**inputs).last_hidden_state.numpy()  # fact: of bfloat16 unknown
model.float()
model(**inputs).last_hidden_state.numpy()  # fact: of bfloat16 unknown
torch.zeros(3, dtype=torch.bfloat16).numpy()  # fact: of bfloat16 yes
torch.tensor(weights).bfloat16().numpy()  # fact: of bfloat16 yes
torch.zeros(3).numpy()  # fact: of bfloat16 unknown
hidden.tolist()  # fact: untold of bfloat16
# ======== collected
import torch
from transformers import AutoModel
from things import loader

model = AutoModel.from_pretrained("bert-base-uncased").bfloat16()
rows, mixed = [], []
for batch in loader:
    rows.append(model(**batch).pooler_output.cpu())
    mixed.append(model(**batch).pooler_output.cpu())
    mixed.append(torch.rand(3))
torch.cat(rows).numpy()  # fact: of bfloat16 yes
torch.cat(mixed).numpy()  # fact: of bfloat16 unknown
