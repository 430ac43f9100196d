import torch
from accelerate import Accelerator
from diffusers import AutoencoderKL, UNet2DConditionModel


def main(args, loader):
    torch.manual_seed(args.seed)
    accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=args.accumulation)
    vae = AutoencoderKL.from_pretrained(args.model, subfolder="vae", torch_dtype=torch.float16)
    unet = UNet2DConditionModel.from_pretrained(args.model, subfolder="unet", torch_dtype=torch.float16)
    vae.requires_grad_(False)
    vae.to(accelerator.device)
    optimizer = torch.optim.AdamW(unet.parameters(), lr=args.lr)
    unet, optimizer, loader = accelerator.prepare(unet, optimizer, loader)
    for batch in loader:
        with accelerator.accumulate(unet):
            latents = vae.encode(batch["pixels"].half()).latent_dist.sample()
            loss = unet(latents, batch["steps"], batch["text"]).sample.float().square().mean()
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(unet.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
