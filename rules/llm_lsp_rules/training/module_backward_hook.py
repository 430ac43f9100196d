"""LLM416 module-backward-hook."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import YES, Bad, Facts, Good, Replace, Report, Rule, Severity


class ModuleBackwardHook(Rule):
    """A hook on a module's backward pass is registered by the method that may show it the wrong gradients.

    `register_backward_hook` hangs the hook on the last operation of the module's forward, whatever that is. If the
    forward is more than one operation, `grad_input` holds the gradients of that operation's inputs and not of the
    module's, and some are missing. torch warns of it, but only when such a backward pass comes by.

    `register_full_backward_hook` takes the same hook, gives it the gradients of the module's own inputs and outputs,
    and lets it replace the former.

    Nothing is said where the program asks for the newer method first, or works with torch below 1.8 only.
    """

    code = "LLM416"
    severity = Severity.WARNING
    triggers = ("register_backward_hook",)
    bad = [
        Bad(
            """\
from torch import nn

def watch(model: nn.Module, found):
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            module.register_backward_hook(lambda module, grad_in, grad_out: found.append(grad_out))  # <- not of the module
""",
            fixed="""\
from torch import nn

def watch(model: nn.Module, found):
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear):
            module.register_full_backward_hook(lambda module, grad_in, grad_out: found.append(grad_out))
""",
        ),
        # A class whose methods share the layer.
        Bad(
            """\
class GradCam:
    def __init__(self, model, layer):
        self.model, self.layer = model, layer
        self.handles = [self.layer.register_forward_hook(self.keep), self.layer.register_backward_hook(self.weigh)]  # <- show

    def keep(self, module, inputs, output):
        self.activations = output

    def weigh(self, module, grad_input, grad_output):
        self.weights = grad_output[0].mean(dim=(2, 3))
""",
            fixed="""\
class GradCam:
    def __init__(self, model, layer):
        self.model, self.layer = model, layer
        self.handles = [self.layer.register_forward_hook(self.keep), self.layer.register_full_backward_hook(self.weigh)]

    def keep(self, module, inputs, output):
        self.activations = output

    def weigh(self, module, grad_input, grad_output):
        self.weights = grad_output[0].mean(dim=(2, 3))
""",
        ),
        # A notebook; a helper that a loop calls.
        Bad(
            {
                "hooks.ipynb": [
                    "from torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 4), nn.ReLU())",
                    "def hang(layer):\n    return layer.register_backward_hook(print)  # <- may show gradients",
                    "handles = [hang(layer) for layer in net]",
                ]
            },
            fixed={
                "hooks.ipynb": [
                    "from torch import nn\n\nnet = nn.Sequential(nn.Linear(4, 4), nn.ReLU())",
                    "def hang(layer):\n    return layer.register_full_backward_hook(print)",
                    "handles = [hang(layer) for layer in net]",
                ]
            },
        ),
    ]
    good = [
        Good("""\
from torch import nn

def watch(model: nn.Module, found):
    for module in model.modules():
        module.register_full_backward_hook(lambda module, grad_in, grad_out: found.append(grad_out))
        module.register_forward_hook(lambda module, inputs, output: output.register_hook(found.append))
"""),
        # Only where there is no better one.
        Good("""\
import torch

def hang(module, hook):
    if hasattr(module, "register_full_backward_hook"):
        return module.register_full_backward_hook(hook)
    return module.register_backward_hook(hook)

def hang_by_version(module, hook):
    if torch.__version__ < "1.8":
        return module.register_backward_hook(hook)
    return module.register_full_backward_hook(hook)
"""),
        Good(
            """\
def hang(module, hook):
    return module.register_backward_hook(hook)
""",
            versions={"torch": "<1.8"},
        ),
        # A class of the program's own that has such a method.
        Good("""\
class Tape:
    def __init__(self):
        self.hooks = []

    def register_backward_hook(self, hook):
        self.hooks.append(hook)

tape = Tape()
tape.register_backward_hook(print)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        if facts.requires("torch", "<1.8") is YES:
            return
        for call in facts.calls("register_backward_hook"):
            method = call.method_range
            if method is not None and not call.is_guarded_by("full_backward", "version"):
                yield self.report(
                    call.place,
                    f"`{call.callee}` may show gradients that are not of the module's inputs",
                    help="use `register_full_backward_hook`",
                    fix=[Replace(method, "register_full_backward_hook")],
                )
