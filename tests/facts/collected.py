"""What lists keep of what models gave, round by round of a loop."""
import torch
from transformers import AutoModelForCausalLM
from things import criterion, loader, move, settings, targets

model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
losses, scores, shown, used, few, unknown = [], [], [], [], [], []
for batch in loader:
    output = model(**batch)
    loss = output.loss
    loss.backward()
    losses.append(loss)  # fact: keeps graph yes
    scores.append(output.logits)  # fact: keeps graph yes
    shown.append(loss.detach())  # fact: keeps graph unknown
    unknown.append(settings.metric(loss))  # fact: keeps graph unknown
    shown.append(loss.item())  # fact: untold keeps graph
    inner = []
    inner.append(loss)  # fact: keeps graph unknown
    with torch.no_grad():
        few.append(loss)  # fact: keeps graph unknown
for batch in loader:
    used.append(model(**batch).loss)  # fact: keeps graph no
    torch.stack(used).mean().backward()
for batch in loader:
    loss = model(**batch).loss
    if settings.backward:
        loss.backward()
        loss = loss.detach()
    few.append(loss)  # fact: keeps graph unknown
for layer in range(3):
    loss = model(layer).loss
    loss.backward()
    few.append(loss)  # fact: keeps graph unknown
# ======== without gradients
import torch
from transformers import AutoModelForCausalLM
from things import loader, settings

placed = AutoModelForCausalLM.from_pretrained("gpt2", device_map="auto")
local = AutoModelForCausalLM.from_pretrained("gpt2")
somewhere = AutoModelForCausalLM.from_pretrained("gpt2").to(settings.place)
rows, others, moved, emptied = [], [], [], []
with torch.no_grad():
    for batch in loader:
        output = placed(**batch)
        rows.append(output.logits)  # fact: stays on the accelerator yes; keeps graph unknown
        rows.append(output.hidden_states[-1].detach())  # fact: stays on the accelerator yes
        rows.append(output.logits[:, -1])  # fact: stays on the accelerator unknown
        moved.append(output.logits.cpu())  # fact: stays on the accelerator unknown
        moved.append(output.logits.float())  # fact: stays on the accelerator unknown
        others.append(local(**batch).logits)  # fact: stays on the accelerator unknown
        others.append(somewhere(**batch).logits)  # fact: stays on the accelerator unknown
        emptied.append(output.logits)  # fact: stays on the accelerator unknown
        emptied.clear()
for batch in loader:
    rows.append(placed(**batch).logits)  # fact: stays on the accelerator unknown
