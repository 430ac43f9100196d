"""LLM302 half-without-autocast."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Call, Facts, Good, Replace, Report, Rule, Severity


class HalfWithoutAutocast(Rule):
    """A model in float16 is trained without autocast, or meets inputs in float32.

    Float16 has 10 bits of fraction and ends at 65,504. A weight near 1 that AdamW moves by less than about 0.0005
    stays where it is, gradients below 6e-8 become zero and sums beyond the end infinite: training stands still or the
    loss turns NaN, and nothing is raised. Keep the weights in float32 and run the forward under `torch.autocast` with
    a `GradScaler`, or load the model in bfloat16, which has float32's range.

    Inputs in float32 are an error: the first layer that multiplies them with float16 weights raises a dtype mismatch.
    Ids and masks are whole numbers and no matter; a processor's `input_values` and `input_features` are float32, and
    so are its `pixel_values`, which some models cast themselves (ViT, CLIP) and others don't (ResNet, ConvNeXt, Swin).

    Nothing is said of a model that is only read from, whose parameters are frozen or adapted by PEFT, whose
    parameters no torch optimizer gets as they are, and where autocast may be on.
    """

    code = "LLM302"
    severity = Severity.ERROR
    triggers = ("half", "float16")
    bad = [
        Bad(
            """\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").half().cuda()  # <- trained without autocast
    model.train()
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
""",
            fixed="""\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").bfloat16().cuda()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
""",
            severity=Severity.WARNING,
        ),
        Bad(
            """\
import torch
from transformers import AutoModelForSequenceClassification

class Finetuner:
    def __init__(self, name):
        self.model = AutoModelForSequenceClassification.from_pretrained(name, torch_dtype=torch.float16)  # <- trained
        self.model.to("cuda").train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-5)

    def step(self, batch):
        loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()
""",
            fixed="""\
import torch
from transformers import AutoModelForSequenceClassification

class Finetuner:
    def __init__(self, name):
        self.model = AutoModelForSequenceClassification.from_pretrained(name, torch_dtype=torch.bfloat16)
        self.model.to("cuda").train()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=2e-5)

    def step(self, batch):
        loss = self.model(**batch).loss
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()
""",
            severity=Severity.WARNING,
        ),
        # What the processor returns is float32; the batch is moved, not cast.
        Bad("""\
import torch
from transformers import AutoModelForCTC, AutoProcessor

processor = AutoProcessor.from_pretrained("facebook/wav2vec2-base-960h")
model = AutoModelForCTC.from_pretrained("facebook/wav2vec2-base-960h").half().to("cuda")  # <- meets inputs in float32

@torch.inference_mode()
def transcribe(audio):
    inputs = processor(audio, sampling_rate=16_000, return_tensors="pt").to("cuda")
    return model(inputs.input_values).logits.argmax(-1)
"""),
        Bad("""\
import torch
from transformers import AutoProcessor, WhisperForConditionalGeneration

NAME = "our-team/whisper-of-the-north"
processor = AutoProcessor.from_pretrained(NAME)
model = WhisperForConditionalGeneration.from_pretrained(
    NAME,
    dtype=torch.float16,  # <- meets inputs in float32
    device_map="cuda",
)

def transcribe(audio):
    inputs = processor(audio, sampling_rate=16_000, return_tensors="pt").to("cuda")
    return processor.batch_decode(model.generate(**inputs))
"""),
        Bad("""\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).cuda().half()  # <- meets inputs in float32
with torch.no_grad():
    print(net(torch.randn(4, 8).cuda()))
"""),
    ]
    good = [
        Good("""\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
    model.train()
    scaler = torch.amp.GradScaler("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(**batch).loss
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
"""),
        # Ids alone: nothing to multiply with is float32.
        Good("""\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16).to("cuda")
inputs = tokenizer("Once", return_tensors="pt").to("cuda")
with torch.no_grad():
    print(model(**inputs).logits.argmax(-1))
print(model.generate(**inputs, max_new_tokens=5))
"""),
        Good("""\
import torch
from transformers import AutoModelForCTC, AutoProcessor

processor = AutoProcessor.from_pretrained("facebook/wav2vec2-base-960h")
model = AutoModelForCTC.from_pretrained("facebook/wav2vec2-base-960h").half().to("cuda")

@torch.inference_mode()
def transcribe(audio):
    inputs = processor(audio, sampling_rate=16_000, return_tensors="pt")
    first = model(inputs.input_values.to("cuda", torch.float16)).logits
    second = model(inputs.input_values.to(model.device, model.dtype)).logits
    third = model(inputs.input_values.cuda().half()).logits
    fourth = model(inputs.to("cuda", dtype=torch.float16).input_values).logits
    with torch.autocast("cuda"):
        fifth = model(inputs.input_values.to("cuda")).logits
    return [logits.argmax(-1) for logits in (first, second, third, fourth, fifth)]
"""),
        # ViT casts its pixels itself.
        Good("""\
import torch
from transformers import AutoImageProcessor, AutoModelForImageClassification

processor = AutoImageProcessor.from_pretrained("google/vit-base-patch16-224")
model = AutoModelForImageClassification.from_pretrained("google/vit-base-patch16-224", dtype=torch.float16).to("cuda")

@torch.inference_mode()
def classify(image):
    return model(**processor(image, return_tensors="pt").to("cuda")).logits.argmax(-1)
"""),
        Good("""\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1)).cuda().half()
with torch.no_grad():
    print(net(torch.randn(4, 8, dtype=torch.float16, device="cuda")))
    print(net(torch.randn(4, 8).half().cuda()), net(torch.randn(4, 8).to("cuda", torch.half)))
    print(net(torch.zeros(4, 8).to(next(net.parameters()))))
"""),
        # bfloat16 has float32's range.
        Good("""\
import torch
from transformers import AutoModelForCausalLM

def train(loader):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.bfloat16).cuda()
    model.train()
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # A frozen teacher in float16 beside a student in float32.
        Good("""\
import torch
from transformers import AutoModelForCausalLM

def distil(loader):
    teacher = AutoModelForCausalLM.from_pretrained("gpt2-large", dtype=torch.float16).cuda()
    student = AutoModelForCausalLM.from_pretrained("distilgpt2", dtype=torch.float32).cuda()
    student.train()
    optimizer = torch.optim.AdamW(student.parameters())
    for batch in loader:
        with torch.no_grad():
            wanted = teacher(**batch).logits.float()
        loss = torch.nn.functional.mse_loss(student(**batch).logits, wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # Only a head learns: the optimizer never sees the float16 weights.
        Good("""\
import torch
from torch import nn
from transformers import AutoModel

def probe(loader):
    torch.manual_seed(0)
    backbone = AutoModel.from_pretrained("gpt2", dtype=torch.float16).cuda()
    head = nn.Linear(768, 2).cuda()
    optimizer = torch.optim.AdamW(head.parameters())
    for ids, labels in loader:
        hidden = backbone(input_ids=ids).last_hidden_state[:, -1].float()
        nn.functional.cross_entropy(head(hidden), labels).backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # PEFT freezes the base and trains its adapters in float32.
        Good("""\
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

def train(loader):
    base = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16).cuda()
    model = get_peft_model(base, LoraConfig(task_type="CAUSAL_LM"))
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in loader:
        model(**batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""),
        # A float32 copy of the weights is what is trained.
        Good("""\
import torch
from transformers import AutoModelForCausalLM

def train(loader, scale=1024.0):
    model = AutoModelForCausalLM.from_pretrained("gpt2").half().cuda()
    masters = [parameter.detach().clone().float().requires_grad_() for parameter in model.parameters()]
    optimizer = torch.optim.AdamW(masters)
    for batch in loader:
        (model(**batch).loss.float() * scale).backward()
        for master, parameter in zip(masters, model.parameters()):
            master.grad = parameter.grad.float() / scale
        optimizer.step()
        with torch.no_grad():
            for master, parameter in zip(masters, model.parameters()):
                parameter.copy_(master)
        model.zero_grad()
"""),
        # A copy is halved after training, and the trained model stays as it was.
        Good("""\
import copy

import torch
from transformers import AutoModelForCausalLM

def train(loader, epochs=3):
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float32).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for epoch in range(epochs):
        model.train()
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        copy.deepcopy(model).half().save_pretrained(f"epoch-{epoch}")
"""),
        # Lightning's precision setting puts the step under autocast, and moves the module.
        Good("""\
import lightning
import torch
from transformers import AutoModelForCausalLM

class Tuner(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)

    def training_step(self, batch, index):
        return self.model(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.model.parameters())
"""),
        # Accelerate prepares for the precision that it was asked for.
        Good("""\
import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM

def train(loader, precision):
    accelerator = Accelerator(mixed_precision=precision)
    model = AutoModelForCausalLM.from_pretrained("gpt2", dtype=torch.float16)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        accelerator.backward(model(**batch).loss)
        optimizer.step()
        optimizer.zero_grad()
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        seen: set[object] = set()
        for call in facts.runs_of_models():
            for half in call.states("dtype"):
                if half.value != "float16" or half.place is None or call.autocast is not NO or half.place in seen:
                    continue
                if is_trained(call):
                    seen.add(half.place)
                    written = half.written_as("bfloat16")
                    yield self.report(
                        half.place,
                        "a model in float16 is trained without autocast",
                        severity=Severity.WARNING,
                        related=[(call.place, "trained here")],
                        help="train float32 weights under `torch.autocast`, or load the model in bfloat16",
                        fix=[Replace(*written)] if written is not None else (),
                        fix_message="use bfloat16",
                    )
                elif call.float32_input is not None:
                    seen.add(half.place)
                    yield self.report(
                        half.place,
                        "a model in float16 meets inputs in float32",
                        related=[(call.place, "meets them here"), (call.float32_input, "float32")],
                        help="cast the inputs, or run the forward under `torch.autocast`",
                    )


def is_trained(call: Call) -> bool:
    """Whether an optimizer changes the weights that this call computes with."""
    return (
        call.reaches_gradient is YES
        and call.gradients is YES
        and call.model_is_frozen is NO
        and call.model_is_optimized is YES
    )
