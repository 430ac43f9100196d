import sys

import torch
from diffusers import StableDiffusionPipeline

pipe = StableDiffusionPipeline.from_pretrained(
    "stable-diffusion-v1-5/stable-diffusion-v1-5", torch_dtype=torch.float16
)  # EXPECT: half_on_cpu
pipe = pipe.to("cpu")
image = pipe(sys.argv[1], num_inference_steps=20, generator=torch.Generator().manual_seed(1)).images[0]
image.save("out.png")
