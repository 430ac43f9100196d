"""LLM414 compute-loss-signature."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Override, Replace, Report, Rule, Severity


class ComputeLossSignature(Rule):
    """An override of `compute_loss` does not take `num_items_in_batch`, which `Trainer` passes.

    Since transformers 4.46 `Trainer` counts the labels of all micro-batches that make one step, and hands the number to
    `compute_loss(model, inputs, num_items_in_batch=...)`, so that the loss can be divided by it. An override with the
    signature of before raises a TypeError in the first training step, after the model was loaded and the data prepared.

    Add `num_items_in_batch=None`, or `**kwargs`. A loss that is a mean over tokens should be a sum divided by that
    number where gradients are accumulated.

    Nothing is said where the project also works with older releases, or where its own trainer calls the method.
    """

    code = "LLM414"
    severity = Severity.ERROR
    triggers = ("compute_loss",)
    bad = [
        Bad(
            """\
from torch import nn
from transformers import Trainer

class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):  # <- `Trainer` passes `num_items_in_batch`
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss
""",
            fixed="""\
from torch import nn
from transformers import Trainer

class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = nn.functional.cross_entropy(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss
""",
        ),
        # A notebook; a class between; a trainer of trl.
        Bad(
            {
                "train.ipynb": [
                    "import trl\n\nclass Base(trl.SFTTrainer):\n    pass",
                    (
                        "class Own(Base):\n    def compute_loss(\n        self,  # <- `Trainer` passes `num_items_in_batch`\n"
                        "        model,\n        inputs: dict,\n        return_outputs: bool = False,\n    ):\n"
                        "        return super().compute_loss(model, inputs, return_outputs)"
                    ).replace(
                        "(\n        self,  # <- `Trainer` passes `num_items_in_batch`",
                        "(  # <- `Trainer` passes `num_items_in_batch`\n        self,",
                    ),
                ]
            },
            fixed={
                "train.ipynb": [
                    "import trl\n\nclass Base(trl.SFTTrainer):\n    pass",
                    (
                        "class Own(Base):\n    def compute_loss(\n        self,\n"
                        "        model,\n        inputs: dict,\n        return_outputs: bool = False, num_items_in_batch=None,\n    ):\n"
                        "        return super().compute_loss(model, inputs, return_outputs)"
                    ),
                ]
            },
            versions={"transformers": ">=4.50"},
        ),
    ]
    good = [
        Good("""\
from transformers import Trainer

class First(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss

class Second(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        return super().compute_loss(model, inputs, return_outputs, **kwargs)
"""),
        # The releases before pass nothing of the kind.
        Good(
            """\
from transformers import Trainer

class Own(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        return super().compute_loss(model, inputs, return_outputs)
""",
            versions={"transformers": ">=4.40"},
        ),
        # The program's own step calls it.
        Good("""\
from transformers import Trainer

class Own(Trainer):
    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        loss = self.compute_loss(model, self._prepare_inputs(inputs))
        self.accelerator.backward(loss)
        return loss.detach()

    def compute_loss(self, model, inputs):
        return model(**inputs).loss
"""),
        # A trainer of the program's own, or of who knows whom.
        Good("""\
from engine import Trainer as Engine

class Loop:
    def compute_loss(self, model, inputs):
        return model(**inputs).loss

class Other(Engine):
    def compute_loss(self, model, inputs):
        return model(**inputs).loss
"""),
        # A decorator may take the argument away.
        Good("""\
from transformers import Trainer
from compatibility import without_counts

class Own(Trainer):
    @without_counts
    def compute_loss(self, model, inputs, return_outputs=False):
        return super().compute_loss(model, inputs, return_outputs)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for method in facts.overrides("compute_loss"):
            if is_a_fault(method) and facts.requires("transformers", ">=4.46") is not NO:
                end = method.end_of_parameters
                yield self.report(
                    method.place,
                    "`Trainer` passes `num_items_in_batch`, which this does not take",
                    help="add `num_items_in_batch=None`",
                    fix=[Replace(end, ", num_items_in_batch=None")] if end is not None else (),
                    safe=True,
                )


def is_a_fault(method: Override) -> bool:
    return method.takes("num_items_in_batch") is NO and method.is_called_by_its_library is YES
