"""What was left in a program: stops for a debugger, secrets."""
import pdb

import torch
from things import args, loader, trace

if torch.cuda.is_available():
    pdb.set_trace()  # fact: is left in yes
for batch in loader:
    breakpoint()  # fact: is left in yes
if args.debug:
    breakpoint()  # fact: is left in unknown
debug = args.verbose > 2
if debug:
    pdb.set_trace()  # fact: is left in unknown
trace.set_trace()  # fact: untold is left in


def debug_step():
    breakpoint()  # fact: is left in unknown


def step(model):
    torch.distributed.breakpoint()  # fact: is left in yes
    return model


TOKEN = str("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")  # fact: is real yes
TOKEN = str("hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")  # fact: is real unknown
TOKEN = str("hf_ThisIsTheTokenOfYourAccountAtTheHub")  # fact: is real unknown
TOKEN = str("hf_short")  # fact: untold is real
API_KEY = str("83b1d0c47fe6a2958c0d1e7fb6a4935d28c07e1f")  # fact: untold is real
# Revoked.
KEY = str("gsk_Qw3rTy7UiOp4sDfGhJk1zXcVbNm9wErTyUi0PaSd")  # fact: is real unknown
# ======== no program that works with models
breakpoint()  # fact: is left in unknown
# ======== a key in the line below the call, which stands below a word of its form
import wandb
wandb.login(
    key="6b1f0e2d9c8a7b5e4f3d2c1b0a9f8e7d6c5b4a39",  # fact: is real yes
)
