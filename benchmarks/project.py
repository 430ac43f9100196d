"""What the benchmarks run on: a project that looks like people's, and a pack of stand-in rules."""

from __future__ import annotations

from pathlib import Path

_PART = '''

class Trainer{n}:
    """Fine-tunes and measures one classifier."""

    def __init__(self, checkpoint="distilbert-base-uncased", device="cuda"):
        self.tokenizer = AutoTokenizer.from_pretrained(checkpoint)
        self.model = AutoModelForSequenceClassification.from_pretrained(checkpoint, num_labels={n} + 2).to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-5)
        self.device = device

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(**batch.to(self.device)).loss
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        right, seen = 0, 0
        for batch in loader:
            batch = batch.to(self.device)
            logits = self.model(**batch).logits
            right += (logits.argmax(dim=-1) == batch["labels"]).sum().item()
            seen += len(batch["labels"])
        self.model.train()
        return right / max(seen, 1)

    def fit(self, texts, labels, epochs=3, batch_size=32):
        rows = [dict(self.tokenizer(text), labels=label) for text, label in zip(texts, labels)]
        loader = DataLoader(rows, batch_size=batch_size, shuffle=True, collate_fn=collate)
        history = []
        for epoch in range(epochs):
            for number, batch in enumerate(loader):
                loss = self.step(batch)
                if number % 50 == 0:
                    print("epoch", epoch, "batch", number, "loss", round(loss, 4))
            history.append(self.evaluate(loader))
        return history


def answer_{n}(model, tokenizer, question, limit=64):
    inputs = tokenizer(question, return_tensors="pt").to(model.device)
    generated = model.generate(**inputs, max_new_tokens=limit, do_sample=False)
    return tokenizer.decode(generated[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
'''

_HEAD = '''"""Module {n} of a project."""

import torch
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

{link}
'''

_RULE = '''"""A stand-in: asks what rules ask and finds nothing."""

from llm_lsp.rule import Facts, Report, Rule, Severity


class StandIn{n}(Rule):
    """Never reported."""

    code = "BENCH{n:03}"
    severity = Severity.INFORMATION
    triggers = ("torch",)
    bad = []
    good = []

    def check(self, facts: Facts):
        for call in facts.calls("torch.stand_in_{n}", "transformers.StandIn{n}.from_pretrained"):
            yield self.report(call.place, "a stand-in")
'''


def module_text(number: int, lines: int) -> str:
    """A module of about that many lines, which imports its neighbour."""
    link = (
        f"from module_{number - 1:03} import collate"
        if number
        else "from torch.utils.data import default_collate as collate"
    )
    text = _HEAD.format(n=number, link=link)
    part = 0
    while text.count("\n") < lines:
        # Not `str.format`: the programs hold braces of their own.
        text += _PART.replace("{n}", str(part))
        part += 1
    return text


def write_project(folder: Path, files: int, lines: int) -> Path:
    """A project whose last module has that many lines; the others are of an ordinary size. Returns that module."""
    folder.mkdir(parents=True)
    declaration = '[project]\nname = "bench"\nversion = "1"\ndependencies = ["torch>=2.6", "transformers>=5"]\n'
    (folder / "pyproject.toml").write_text(declaration, encoding="utf-8")
    for number in range(files):
        path = folder / f"module_{number:03}.py"
        path.write_text(module_text(number, lines if number == files - 1 else 120), encoding="utf-8")
    return folder / f"module_{files - 1:03}.py"


def write_rule_pack(folder: Path, rules: int) -> Path:
    """An installed rule pack of stand-ins with an index, as `scripts/index_rules.py` writes it; returns its `sys.path`."""
    package = folder / "bench_rules"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("", encoding="utf-8")
    rows: list[tuple[object, ...]] = []
    for n in range(rules):
        (package / f"stand_in_{n}.py").write_text(_RULE.format(n=n), encoding="utf-8")
        module, name = f"bench_rules.stand_in_{n}", f"StandIn{n}"
        rows.append(
            (f"BENCH{n:03}", f"stand-in-{n}", "bench", "information", True, ("torch",), (), "none", module, name)
        )
    (package / "index.py").write_text(f"RULES = {tuple(rows)!r}\n", encoding="utf-8")
    metadata = folder / "bench_rules-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-rules\nVersion: 1\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[llm_lsp.rules]\nbench = bench_rules\n", encoding="utf-8")
    return folder


_CIRCLE = '''"""Module {n} of a circle of {size}."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from circle.module_{next:03} import CHECKPOINT as OTHER, evaluate as evaluate_next, seed_all as seed_next

CHECKPOINT = "gpt2"


def seed_all(seed=0):
    torch.manual_seed(seed)


class Model{n}(torch.nn.Module):
    def __init__(self, checkpoint=CHECKPOINT):
        super().__init__()
        self.body = AutoModelForCausalLM.from_pretrained(checkpoint)
        self.head = torch.nn.Linear(768, 2)

    def forward(self, batch):
        return self.head(self.body(**batch, output_hidden_states=True).hidden_states[-1])


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    return [model(batch).argmax(-1) for batch in loader]


def main(loader):
    seed_next()
    tokenizer = AutoTokenizer.from_pretrained(OTHER)
    model = Model{n}()
    optimizer = torch.optim.AdamW(model.parameters())
    for texts in loader:
        loss = model(tokenizer(texts, return_tensors="pt", padding=True, truncation=True)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return evaluate_next(model, loader)


if __name__ == "__main__":
    main([["a"]])
'''


def write_circle(folder: Path, size: int) -> list[Path]:
    """A package of modules each of which imports the next one, the last one the first; returns their files."""
    package = folder / "circle"
    package.mkdir(parents=True)
    (folder / "setup.cfg").touch()
    (package / "__init__.py").touch()
    paths: list[Path] = []
    for number in range(size):
        text = _CIRCLE.replace("{size}", str(size)).replace("{next:03}", f"{(number + 1) % size:03}")
        paths.append(package / f"module_{number:03}.py")
        paths[-1].write_text(text.replace("{n}", str(number)), encoding="utf-8")
    return paths


def pathological_text(lines: int = 10_000) -> str:
    """A file as nobody writes them: a 200-way dispatch, functions that call each other, 50 nested closures, much code."""
    parts = ["import torch", "from transformers import AutoModel", "", "model = AutoModel.from_pretrained('gpt2')", ""]
    for number in range(200):
        parts += [
            f"def case_{number}(x, depth):",
            f"    y = model(x + {number})",
            f"    return dispatch(y, depth - 1, {number})",
            "",
        ]
    parts += ["def dispatch(x, depth, which):"]
    parts += [
        line
        for number in range(200)
        for line in (f"    if which == {number}:", f"        return case_{number}(x, depth)")
    ]
    parts += [
        "    return TABLE[which](x, depth)",
        "",
        f"TABLE = {{{', '.join(f'{n}: case_{n}' for n in range(200))}}}",
        "",
    ]
    parts += ["def even(x, n):", "    return x if n == 0 else odd(model(x), n - 1)", ""]
    parts += ["def odd(x, n):", "    return x if n == 0 else even(model(x), n - 1)", ""]
    parts += [f"{'    ' * depth}def closure_{depth}(x_{depth}):" for depth in range(50)]
    parts += [f"{'    ' * 50}return model({' + '.join(f'x_{depth}' for depth in range(50))})"]
    parts += [f"{'    ' * depth}return closure_{depth}(model(x_{depth - 1}))" for depth in range(49, 0, -1)]
    parts += ["", "def run(batches):", "    total = 0"]
    number = 0
    while len(parts) < lines - 8:
        number += 1
        parts += [f"    for batch_{number} in batches:", f"        if batch_{number} is not None:"]
        parts += [
            f"            total += model(batch_{number}).loss",
            f"            total = dispatch(total, {number}, batch_{number})",
        ]
    parts += ["    return even(total, 10)", "", "run([1])", "closure_0(1)", "dispatch(1, 2, 3)"]
    return "\n".join(parts) + "\n"
