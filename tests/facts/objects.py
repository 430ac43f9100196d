"""Objects are named by where they are made and by the way there; aliases and wrappers are one object."""
import copy

import torch
from accelerate import Accelerator
from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer


def build(name="gpt2"):
    return AutoModelForCausalLM.from_pretrained(name)


one = build()
two = build()
print(one)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(two)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
same = one
print(same)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
held = [one, two]
print(held[1])  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
table = {"policy": one, "reference": two}
print(table["reference"])  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
(first, (second,)) = one, (two,)
print(second)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
print(copy.deepcopy(one))  # fact: passed transformers.AutoModelForCausalLM of line 29 < 17
print(build(name) for name in names)  # fact: passed builtins.list of line 30
for name in names:
    each = build(name)
print(each)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 32
print(table[names])  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17 or transformers.AutoModelForCausalLM of line 14 < 18

wrapped = DistributedDataParallel(one, device_ids=[0])
print(wrapped)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(wrapped.module)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(FSDP(one))  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(nn.DataParallel(one))  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(torch.compile(one))  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
one.compile()
print(torch.compile(one)._orig_mod)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
adapted = get_peft_model(one, LoraConfig())
print(adapted)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(adapted.base_model)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(adapted.merge_and_unload())  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
print(PeftModel.from_pretrained(two, "adapter"))  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
print(one.to("cuda").eval())  # fact: passed transformers.AutoModelForCausalLM of line 14 < 17
accelerator = Accelerator()
prepared, optimizer = accelerator.prepare(two, torch.optim.AdamW(two.parameters()))
print(prepared)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
print(optimizer)  # fact: passed torch.optim.AdamW of line 51
print(accelerator.unwrap_model(prepared))  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
print(wrap_it(one))  # fact: passed unknown
print(strange.wrap(one))  # fact: passed unknown
print(load_it("gpt2"))  # fact: passed unknown
prepared(ids)  # fact: loaded as `gpt2`
wrapped(ids)  # fact: loaded as `gpt2`; is in evaluation mode yes
load_it("gpt2")(ids)  # fact: called , in the module


class Network(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.backbone = backbone
        self.blocks = nn.ModuleList([nn.Linear(2, 2)])
        self.head = nn.Linear(2, 2)

    def forward(self, ids):
        hidden = self.backbone(ids)  # fact: of transformers.AutoModel of line 75
        return self.head(hidden)


network = Network(AutoModel.from_pretrained("gpt2"))
print(network)  # fact: passed Network of line 75
print(network.backbone)  # fact: passed transformers.AutoModel of line 75
print(network.head)  # fact: passed torch.nn.Linear of line 68 < 75
network(ids)  # fact: called an object, in the module
network.later = two
print(network.later)  # fact: passed transformers.AutoModelForCausalLM of line 14 < 18
print(network.never)  # fact: passed `Network.never` from outside


class Trainer:
    def __init__(self, model):
        self.model = model

    def setup(self):
        self.reference = AutoModel.from_pretrained("bert-base-uncased")

    def fit(self, batch):
        self.model(batch)  # fact: of `model` from outside
        self.reference(batch)  # fact: loaded as `bert-base-uncased`
        self.other(batch)  # fact: of `self.other` from outside


def use(network: Network, plain, model: "AutoModel"):
    print(network)  # fact: passed `network` from outside, a Network
    print(model)  # fact: passed `model` from outside, a transformers.AutoModel
    print(plain)  # fact: passed `plain` from outside
    network(plain)  # fact: of `network` from outside, a Network
    plain(network)  # fact: of `plain` from outside
    print(network.head)  # fact: passed `network.head` from outside


def more(factory, models, strange):
    print(factory())  # fact: passed unknown
    print(models[0])  # fact: passed `models[0]` from outside
    for model in models:
        model(factory)  # fact: of `models[]` from outside
    print(getattr(strange, "model"))  # fact: passed `strange.model` from outside
    print(getattr(strange, factory))  # fact: passed unknown
    print(strange)  # fact: passed `strange` from outside
