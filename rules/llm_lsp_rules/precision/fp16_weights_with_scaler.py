"""LLM304 fp16-weights-with-scaler."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class Fp16WeightsWithScaler(Rule):
    """Weights in float16 are trained with a loss scaler, which refuses their gradients.

    Mixed precision keeps the weights in float32 and lets autocast compute in float16; the scaler multiplies the loss
    so that small gradients survive, and divides the float32 gradients again before the step. Where the weights
    themselves are float16 their gradients are, too: dividing them would bring back what the scaling was for, so the
    scaler raises "Attempting to unscale FP16 gradients" at the first step.

    Load the model in float32 (`dtype=torch.float32`, without `.half()`) and leave the casting to autocast; or, where
    memory is short, in bfloat16 with `bf16=True`, `mixed_precision="bf16"` or `precision="bf16-mixed"`, which need
    no scaler.

    It does not matter whether the scaler is a `GradScaler` of the program or comes with `fp16=True` of a `Trainer`,
    `mixed_precision="fp16"` of an `Accelerator` or `precision="16-mixed"` of Lightning. A frozen base in float16
    with adapters in float32 on it trains well, and a model that is only read from gets no gradients.
    """

    code = "LLM304"
    severity = Severity.ERROR
    supersedes = ("LLM302",)
    triggers = ("half", "float16")
    bad = [
        # A scaler of the program's own.
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16).to("cuda")  # <- trained with `scaler`
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        with torch.autocast("cuda"):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
""",
            fixed="""\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float32).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        with torch.autocast("cuda"):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
""",
        ),
        # A class whose methods share them; the loop calls a helper.
        Bad(
            """\
import torch
from torch.cuda.amp import GradScaler
from transformers import AutoModelForSequenceClassification

class Finetuner:
    def __init__(self, name):
        self.model = AutoModelForSequenceClassification.from_pretrained(name)
        self.model.half().cuda()  # <- trained with `self.scaler`
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-5)
        self.scaler = GradScaler()

    def step(self, batch):
        loss = self.model(**batch).loss
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def fit(self, loader):
        self.model.train()
        for batch in loader:
            self.step(batch)
""",
            fixed="""\
import torch
from torch.cuda.amp import GradScaler
from transformers import AutoModelForSequenceClassification

class Finetuner:
    def __init__(self, name):
        self.model = AutoModelForSequenceClassification.from_pretrained(name)
        self.model.float().cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-5)
        self.scaler = GradScaler()

    def step(self, batch):
        loss = self.model(**batch).loss
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()

    def fit(self, loader):
        self.model.train()
        for batch in loader:
            self.step(batch)
""",
        ),
        # Lightning brings a scaler along.
        Bad(
            """\
import lightning as L
import torch
from transformers import AutoModelForSequenceClassification

class Classifier(L.LightningModule):
    def __init__(self, name):
        super().__init__()
        self.net = AutoModelForSequenceClassification.from_pretrained(name, dtype=torch.float32)

    def training_step(self, batch, index):
        return self.net(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-5)

def main(datamodule):
    model = Classifier("bert-base-cased")
    model.half()  # <- trained with `precision="16-mixed"`
    trainer = L.Trainer(max_epochs=3, precision="16-mixed")
    trainer.fit(model, datamodule=datamodule)
""",
            fixed="""\
import lightning as L
import torch
from transformers import AutoModelForSequenceClassification

class Classifier(L.LightningModule):
    def __init__(self, name):
        super().__init__()
        self.net = AutoModelForSequenceClassification.from_pretrained(name, dtype=torch.float32)

    def training_step(self, batch, index):
        return self.net(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-5)

def main(datamodule):
    model = Classifier("bert-base-cased")
    model.float()
    trainer = L.Trainer(max_epochs=3, precision="16-mixed")
    trainer.fit(model, datamodule=datamodule)
""",
        ),
        Bad(
            """\
import torch
from pytorch_lightning import LightningModule, Trainer, seed_everything
from transformers import AutoModelForCausalLM

class Tuner(LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype="float16")  # <- `precision=16`

    def training_step(self, batch, index):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters())

seed_everything(0)
Trainer(precision=16, accelerator="gpu").fit(Tuner(), loader)
""",
            fixed="""\
import torch
from pytorch_lightning import LightningModule, Trainer, seed_everything
from transformers import AutoModelForCausalLM

class Tuner(LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2", torch_dtype="float32")

    def training_step(self, batch, index):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters())

seed_everything(0)
Trainer(precision=16, accelerator="gpu").fit(Tuner(), loader)
""",
        ),
        # A Trainer's setting; in cells of a notebook.
        Bad(
            {
                "tune.ipynb": [
                    """\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments""",
                    'model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)  # <- with `fp16=True`',
                    """\
arguments = TrainingArguments(output_dir="out", fp16=True)
trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
trainer.train()""",
                ]
            },
            fixed={
                "tune.ipynb": [
                    """\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments""",
                    'model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float32)',
                    """\
arguments = TrainingArguments(output_dir="out", fp16=True)
trainer = Trainer(model=model, args=arguments, train_dataset=dataset)
trainer.train()""",
                ]
            },
        ),
        Bad(
            """\
import torch
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss

def main(dataset):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
    model.to(torch.float16)  # <- trained with `fp16=True`
    Weighted(model, TrainingArguments("out", fp16=True), train_dataset=dataset).train()
""",
            fixed="""\
import torch
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss

def main(dataset):
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2)
    model.to(torch.float32)
    Weighted(model, TrainingArguments("out", fp16=True), train_dataset=dataset).train()
""",
        ),
        # An accelerator's setting.
        Bad(
            """\
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM

def train(loader):
    accelerator = Accelerator(mixed_precision="fp16")
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)  # <- with `mixed_precision="fp16"`
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        optimizer.zero_grad()
""",
            fixed="""\
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM

def train(loader):
    accelerator = Accelerator(mixed_precision="fp16")
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        optimizer.zero_grad()
""",
        ),
    ]
    good = [
        # Weights in float32; autocast and the scaler do the rest.
        Good("""\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float32).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
        # bfloat16 needs no scaler; float16 weights that are only evaluated get no gradients.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def train(dataset):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.bfloat16)
    Trainer(model, TrainingArguments("out", bf16=True), train_dataset=dataset).train()
    judge = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
    print(Trainer(judge, TrainingArguments("out", fp16=True), eval_dataset=dataset).evaluate())
"""),
        # Only the frozen base is float16.
        Good("""\
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
from trl import SFTConfig, SFTTrainer

def adapt(dataset):
    base = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
    model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM"))
    Trainer(model, TrainingArguments("out", fp16=True), train_dataset=dataset).train()
    other = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
    SFTTrainer(other, SFTConfig("out", fp16=True), train_dataset=dataset, peft_config=LoraConfig()).train()
"""),
        Good("""\
import torch
from torch import nn
from transformers import AutoModel

def probe(loader):
    torch.manual_seed(0)
    backbone = AutoModel.from_pretrained("gpt2", dtype=torch.float16).cuda()
    backbone.requires_grad_(False)
    head = nn.Linear(768, 2).cuda()
    optimizer = torch.optim.AdamW(head.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for ids, labels in loader:
        hidden = backbone(input_ids=ids).last_hidden_state[:, -1].float()
        scaler.scale(nn.functional.cross_entropy(head(hidden), labels)).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
        # A teacher in float16 beside a student in float32.
        Good("""\
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM

def distil(loader):
    accelerator = Accelerator(mixed_precision="fp16")
    teacher = AutoModelForCausalLM.from_pretrained("gpt2-large", dtype=torch.float16)
    student = AutoModelForCausalLM.from_pretrained("distilgpt2", dtype=torch.float32)
    optimizer = torch.optim.AdamW(student.parameters())
    teacher, student, optimizer, loader = accelerator.prepare(teacher, student, optimizer, loader)
    for batch in loader:
        with torch.no_grad():
            wanted = teacher(**batch).logits
        accelerator.backward(torch.nn.functional.mse_loss(student(**batch).logits, wanted))
        optimizer.step()
        optimizer.zero_grad()
"""),
        Good("""\
import lightning as L
import torch
from transformers import AutoModelForCausalLM

class Distiller(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.teacher = AutoModelForCausalLM.from_pretrained("gpt2-large", dtype=torch.float16)
        self.student = AutoModelForCausalLM.from_pretrained("distilgpt2", dtype=torch.float32)

    def training_step(self, batch, index):
        with torch.no_grad():
            wanted = self.teacher(**batch).logits
        return torch.nn.functional.mse_loss(self.student(**batch).logits, wanted)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.student.parameters())

L.seed_everything(0)
L.Trainer(precision="16-mixed").fit(Distiller(), loader)
"""),
        # Lightning's true half precision has no scaler; nor has the setting of somebody who may have chosen another.
        Good("""\
import lightning as L
import torch
from transformers import AutoModelForCausalLM

class Tuner(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)

    def training_step(self, batch, index):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters())

def main(loader, precision):
    L.Trainer(precision="16-true").fit(Tuner(), loader)
    L.Trainer(precision=precision).fit(Tuner(), loader)
"""),
        # DeepSpeed has a scaler of its own; parameters that are cast one by one.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def train(dataset):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
    arguments = TrainingArguments("out", fp16=True, deepspeed="zero3.json")
    Trainer(model, arguments, train_dataset=dataset).train()

def tune(dataset):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
    for parameter in model.parameters():
        parameter.data = parameter.data.float()
    Trainer(model, TrainingArguments("out", fp16=True), train_dataset=dataset).train()
"""),
        # The model is cast back before it is trained, and cast once it has been trained.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

def train(dataset):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
    model.float()
    trainer = Trainer(model, TrainingArguments("out", fp16=True), train_dataset=dataset)
    trainer.train()
    model.half().save_pretrained("out/half")
"""),
        # A scaler that is switched off.
        Good("""\
import torch
from transformers import AutoModelForCausalLM

def score(batch, targets):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16).to("cuda")
    head = torch.nn.Linear(50257, 1).cuda()
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    with torch.no_grad():
        logits = model(**batch).logits[:, -1].float()
    scaler.scale((head(logits) - targets).square().mean()).backward()
    scaler.step(optimizer)
    scaler.update()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[object] = set()
        for training in facts.half_trainings():
            half = training.half
            if half.place is None or half.place in seen or training.is_trained is not YES:
                continue
            seen.add(half.place)
            written = half.written_as("float" if half.place.text.endswith(".half()") else "float32", inputs_follow=True)
            yield self.report(
                half.place,
                f"weights in float16 are trained with `{training.scaler}`, which refuses their gradients",
                related=[(training.call.place, "trained here")],
                help="keep the weights in float32 and leave float16 to autocast",
                fix=[Replace(*written)] if written is not None else (),
                fix_message="use float32 weights",
            )
