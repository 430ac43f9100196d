import hydra
import torch
from omegaconf import DictConfig
from train.loop import run
from transformers import AutoModelForCausalLM


@hydra.main(version_base="1.3", config_path="../conf", config_name="train")
def main(cfg: DictConfig) -> None:
    torch.manual_seed(cfg.seed)
    model = AutoModelForCausalLM.from_pretrained(cfg.model).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    run(model, torch.load(cfg.data, weights_only=True), optimizer, torch.amp.GradScaler("cuda"), cfg.clip)
    model.save_pretrained(cfg.out)


if __name__ == "__main__":
    main()
