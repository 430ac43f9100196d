import torch
from torch.nn.utils import clip_grad_norm_

class Loop:
    def __init__(self):
        self.model = self.build().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-5)
        self.scaler = torch.cuda.amp.GradScaler()

    def fit(self, batches):
        for batch in batches:
            with torch.autocast("cuda", dtype=torch.float16):
                loss = self.loss_of(batch)
            self.scaler.scale(loss).backward()
            self.clip()
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()

    def clip(self, limit=1.0):
        clip_grad_norm_(self.model.parameters(), limit)  # <- LLM305
