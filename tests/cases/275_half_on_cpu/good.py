import sys

import torch
from diffusers import StableDiffusionPipeline

CHECKPOINT = "stable-diffusion-v1-5/stable-diffusion-v1-5"

if torch.cuda.is_available():
    pipe = StableDiffusionPipeline.from_pretrained(CHECKPOINT, torch_dtype=torch.float16)
    pipe.enable_model_cpu_offload()
else:
    pipe = StableDiffusionPipeline.from_pretrained(CHECKPOINT)
image = pipe(sys.argv[1], num_inference_steps=20, generator=torch.Generator().manual_seed(1)).images[0]
image.save("out.png")
