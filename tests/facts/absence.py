"""Never is a fact of its own: it needs that nothing hidden could have done it."""
import random

import torch

random.shuffle([1, 2])  # fact: is seeded no; matters yes
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== a seed before
import random

random.seed(0)
random.shuffle([1, 2])  # fact: is seeded yes
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== a seed that comes too late for the first draw, but comes
import random

random.shuffle([1, 2])  # fact: is seeded yes
random.seed(0)
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== a seed that may be None
import random
import sys

seed = int(sys.argv[1]) if len(sys.argv) > 1 else None
if seed is not None:
    random.seed(seed)
random.shuffle([1, 2])  # fact: is seeded yes
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== unknown code that may seed
import random
from company import set_all_seeds

set_all_seeds(3)
random.shuffle([1, 2])  # fact: is seeded unknown
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== unknown code whose name says nothing
import random
from company import begin

begin()
random.shuffle([1, 2])  # fact: is seeded unknown
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== a star import
import random
from company import *

random.shuffle([1, 2])  # fact: is seeded unknown
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== exec
import random

exec(open("setup.py").read())
random.shuffle([1, 2])  # fact: is seeded unknown
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== callees without effect
import logging
import random

print("begin", len([1]))
logging.info("begin")
random.shuffle([1, 2])  # fact: is seeded no
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== another generator is seeded
import random
import torch

torch.manual_seed(0)
random.shuffle([1, 2])  # fact: is seeded no
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== all at once
import random
import numpy
from transformers import set_seed

set_seed(0)
random.shuffle([1, 2])  # fact: is seeded yes
numpy.random.rand()  # fact: is seeded yes
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== in another file of the project
import random
from seeds import everything

everything(1)
random.shuffle([1, 2])  # fact: is seeded yes
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# -------- seeds.py
import random
def everything(seed):
    random.seed(seed)
# ======== in a file that hides what it does
import random
from seeds import everything

everything(1)
random.shuffle([1, 2])  # fact: is seeded unknown
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# -------- seeds.py
from company import *
def everything(seed):
    do_it(seed)
# ======== who does not train or sample need not repeat
import random

random.shuffle([1, 2])  # fact: matters no
# ======== no rows are added to the model
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: rows suffice no
model(**tokenizer("text", return_tensors="pt"))
# ======== the model goes where rows may be added
from company import prepare
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: rows suffice unknown
prepare(model)
model(**tokenizer("text", return_tensors="pt"))
# ======== they are added
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: untold rows suffice
model.resize_token_embeddings(len(tokenizer))
model(**tokenizer("text", return_tensors="pt"))
# ======== a half-typed seed must not flash
import random

random.see
random.shuffle([1, 2])  # fact: is seeded unknown
import torch; torch.zeros(1, requires_grad=True).sum().backward()
# ======== what is shown is not half-typed
import random
import torch

row = torch.zeros(1)
row.shape
row
random.shuffle([1, 2])  # fact: is seeded no
torch.zeros(1, requires_grad=True).sum().backward()
# ======== a half-typed method
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
tokenizer.add_tokens(["<a>"])  # fact: rows suffice unknown
model.resize_token
model(**tokenizer("text", return_tensors="pt"))
