"""Kinds that are shown by use, by a base, by a library's name; one use alone shows nothing."""
import torch
from company import CompanyModel
from torch import nn
from transformers import AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel, pipeline


def two_uses(model, batch):
    model.eval()
    model(batch)  # fact: is in evaluation mode yes; model has learned yes


def one_use(model, batch):
    model(batch)  # fact: is in evaluation mode unknown; model has learned no; model needs gradients yes


def other_use(callback, batch):
    callback.train()
    callback(batch)  # fact: model is trained yes; is in evaluation mode no


class Own(nn.Module):
    def forward(self, x):
        return x


class Derived(Own):
    pass


class Pretrained(PreTrainedModel):
    def forward(self, x):
        return x


class NoModule:
    def __call__(self, x):
        return x

    def forward(self, x):
        return x


class Unseen(CompanyModel):
    pass


x = torch.zeros(1)
Own()(x)  # fact: is in evaluation mode no; model is frozen no
Derived()(x)  # fact: is in evaluation mode no; model has learned no
Pretrained.from_pretrained("gpt2")(x)  # fact: is in evaluation mode yes
AutoModel.from_config(AutoConfig.from_pretrained("gpt2"))(x)  # fact: is in evaluation mode no
AutoModel.from_pretrained("gpt2")(x)  # fact: is in evaluation mode yes; model has learned yes
nn.Linear(2, 2)(x)  # fact: called an object, in the module; is in evaluation mode no
Unseen()(x)  # fact: is in evaluation mode unknown; model is trained no
CompanyModel()(x)  # fact: is in evaluation mode unknown; model is trained unknown
own = Own()
own.eval()
own(x)  # fact: is in evaluation mode yes
own.train()
own(x)  # fact: is in evaluation mode no
own.train(False)
own(x)  # fact: is in evaluation mode yes
own.train(mode=is_training())
own(x)  # fact: is in evaluation mode unknown
maybe = own if x else nn.Identity()
maybe(x)  # fact: of Own of line 57 | torch.nn.Identity of line 66
pipe = pipeline("text-generation", "gpt2")
pipe(x)  # fact: of transformers.pipeline of line 68
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer(x)  # fact: of transformers.AutoTokenizer of line 70
strange = make()
strange(x)  # fact: is in evaluation mode unknown; dtype unknown
strange.eval()
print(strange)  # fact: passed unknown
NoModule()  # fact: called NoModule, in the module


def annotated(model: nn.Module, tokenizer: "AutoTokenizer", other: Unseen, batch: dict):
    model(batch)  # fact: is in evaluation mode unknown; model is trained unknown; model needs gradients yes
    other(batch)  # fact: is in evaluation mode unknown; model has learned no
    batch(model)  # fact: is in evaluation mode unknown; device unknown
    batch.model(model)  # fact: is in evaluation mode unknown
