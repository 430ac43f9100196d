import hydra
import torch
from build import build_model
from engine import train_one_epoch


@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    torch.manual_seed(cfg.seed)
    model = build_model(cfg.model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    scaler = torch.amp.GradScaler("cuda")
    batches = torch.load(cfg.data, weights_only=True)
    for _ in range(cfg.epochs):
        train_one_epoch(model, batches, optimizer, scaler, cfg.max_norm)
    torch.save(model.state_dict(), "model.pt")


if __name__ == "__main__":
    main()
