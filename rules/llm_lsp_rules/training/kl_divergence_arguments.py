"""LLM407 kl-divergence-arguments."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, YES, Bad, Facts, Good, Replace, Report, Rule, SetArgument, Severity


class KlDivergenceArguments(Rule):
    """`kl_div` takes log-probabilities first and probabilities second, and is given something else.

    `F.kl_div(input, target)` computes `target * (log(target) - input)`: its first argument has to be the logarithm
    already, its second must not be, unless `log_target=True` says so. With probabilities in the first place the sum is
    no divergence: it has its least value elsewhere, often below zero, and the student is pushed away from the teacher
    where both agree. With logarithms in the second place it is NaN, or cut to zero. Nothing is raised.

    Write `F.kl_div(F.log_softmax(student, dim=-1), F.softmax(teacher, dim=-1), reduction="batchmean")`, or
    `F.log_softmax` twice with `log_target=True`.

    `reduction="mean"`, which is the default, divides by the number of all elements, classes included, and not by the
    batch: with a vocabulary of 50,000 the divergence is 50,000 times too small. torch warns of it at run time. This
    alone is a warning.

    Reported is only what is seen to be made by a softmax, a sigmoid or a logarithm.
    """

    code = "LLM407"
    severity = Severity.ERROR
    triggers = ("kl_div", "KLDivLoss")
    bad = [
        Bad(
            """\
import torch.nn.functional as F

def distillation_loss(student_logits, teacher_logits, temperature=2.0):
    student = F.softmax(student_logits / temperature, dim=-1)
    teacher = F.softmax(teacher_logits / temperature, dim=-1)
    return F.kl_div(student, teacher, reduction="batchmean") * temperature**2  # <- log-probabilities first
""",
            fixed="""\
import torch.nn.functional as F

def distillation_loss(student_logits, teacher_logits, temperature=2.0):
    student = F.log_softmax(student_logits / temperature, dim=-1)
    teacher = F.softmax(teacher_logits / temperature, dim=-1)
    return F.kl_div(student, teacher, reduction="batchmean") * temperature**2
""",
        ),
        # A class whose methods share the loss; the target is in log space, and the loss does not know.
        Bad(
            """\
import torch
from torch import nn

class Distiller:
    def __init__(self, student, teacher):
        self.student, self.teacher = student, teacher
        self.divergence = nn.KLDivLoss(reduction="batchmean")

    def loss(self, ids):
        with torch.no_grad():
            target = self.teacher(ids).logits.log_softmax(dim=-1)
        return self.divergence(self.student(ids).logits.log_softmax(dim=-1), target)  # <- takes probabilities second
""",
            fixed="""\
import torch
from torch import nn

class Distiller:
    def __init__(self, student, teacher):
        self.student, self.teacher = student, teacher
        self.divergence = nn.KLDivLoss(reduction="batchmean", log_target=True)

    def loss(self, ids):
        with torch.no_grad():
            target = self.teacher(ids).logits.log_softmax(dim=-1)
        return self.divergence(self.student(ids).logits.log_softmax(dim=-1), target)
""",
        ),
        # A notebook; probabilities that others read too, and that are no logarithms.
        Bad(
            {
                "distil.ipynb": [
                    "import torch\nfrom torch.nn import functional as F",
                    (
                        "def compare(student, teacher, x):\n    p = torch.softmax(student(x), dim=1)\n"
                        "    q = torch.softmax(teacher(x), dim=1)\n    print(p.max())\n"
                        '    first = F.kl_div(p, q, reduction="sum")  # <- log-probabilities first\n'
                        '    return first + F.kl_div(p.log(), q, reduction="sum", log_target=True)  # <- `log_target=True`'
                    ),
                ]
            },
            fixed={
                "distil.ipynb": [
                    "import torch\nfrom torch.nn import functional as F",
                    (
                        "def compare(student, teacher, x):\n    p = torch.softmax(student(x), dim=1)\n"
                        "    q = torch.softmax(teacher(x), dim=1)\n    print(p.max())\n"
                        '    first = F.kl_div(p.log(), q, reduction="sum")\n'
                        '    return first + F.kl_div(p.log(), q, reduction="sum", log_target=False)'
                    ),
                ]
            },
        ),
        # The mean over all elements; a helper that a loop calls.
        Bad(
            """\
import torch
import torch.nn.functional as F

def divergence(student, teacher):
    return F.kl_div(F.log_softmax(student, dim=-1), F.softmax(teacher, dim=-1))  # <- divides by the number of all

def train(student, teacher, loader, optimizer):
    for batch in loader:
        with torch.no_grad():
            target = teacher(**batch).logits
        optimizer.zero_grad()
        divergence(student(**batch).logits, target).backward()
        optimizer.step()
""",
            fixed="""\
import torch
import torch.nn.functional as F

def divergence(student, teacher):
    return F.kl_div(F.log_softmax(student, dim=-1), F.softmax(teacher, dim=-1), reduction="batchmean")

def train(student, teacher, loader, optimizer):
    for batch in loader:
        with torch.no_grad():
            target = teacher(**batch).logits
        optimizer.zero_grad()
        divergence(student(**batch).logits, target).backward()
        optimizer.step()
""",
            severity=Severity.WARNING,
        ),
    ]
    good = [
        Good("""\
import torch.nn.functional as F

def distillation_loss(student, teacher, temperature=2.0):
    student = F.log_softmax(student / temperature, dim=-1)
    teacher = F.softmax(teacher / temperature, dim=-1)
    return F.kl_div(student, teacher, reduction="batchmean") * temperature**2
"""),
        Good("""\
import torch.nn.functional as F
from torch import nn

def distillation_loss(student, teacher, mask):
    student = F.log_softmax(student, dim=-1)
    teacher = F.log_softmax(teacher, dim=-1)
    each = F.kl_div(student, teacher, reduction="none", log_target=True).sum(-1)
    whole = nn.KLDivLoss(reduction="batchmean", log_target=True)(student, teacher)
    return (each * mask).sum() / mask.sum() + whole
"""),
        # The logarithm is taken by hand.
        Good("""\
import torch
import torch.nn.functional as F

def divergence(p, q):
    p = torch.softmax(p, dim=-1).clamp(min=1e-8)
    q = torch.softmax(q, dim=-1)
    return F.kl_div(p.log(), q, reduction="sum") + F.kl_div(torch.log(p), q, reduction="batchmean")
"""),
        # Nobody knows what these are, or how the loss is set up.
        Good("""\
import torch.nn.functional as F
from torch import nn

class Loss(nn.Module):
    def __init__(self, reduction, **settings):
        super().__init__()
        self.reduction = reduction
        self.settings = settings
        self.divergence = nn.KLDivLoss(**settings)

    def forward(self, student, teacher, log_target):
        log_student, log_teacher = F.log_softmax(student, dim=-1), F.log_softmax(teacher, dim=-1)
        first = F.kl_div(log_student, log_teacher, reduction=self.reduction, log_target=log_target)
        second = F.kl_div(student, teacher, reduction="none")
        return first + second + self.divergence(log_student, log_teacher) + F.kl_div(log_student, log_teacher, **self.settings)
"""),
        # Another function of the same name.
        Good("""\
import torch
from losses import kl_div

def loss(p, q):
    return kl_div(torch.softmax(p, dim=-1), torch.softmax(q, dim=-1))
"""),
        # The divergence of distributions.
        Good("""\
import torch
from torch.distributions import Categorical, kl_divergence

def loss(p, q):
    return kl_divergence(Categorical(probs=torch.softmax(p, dim=-1)), Categorical(logits=q)).mean()
"""),
        # One branch of two: which one it was is not known.
        Good("""\
import torch.nn.functional as F

def loss(student, teacher, is_log):
    if is_log:
        target = F.log_softmax(teacher, dim=-1)
    else:
        target = F.softmax(teacher, dim=-1)
    return F.kl_div(F.log_softmax(student, dim=-1), target, reduction="batchmean", log_target=is_log)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for loss in facts.divergences():
            place, settings, name = loss.call.place, loss.settings.place.range, loss.name
            if loss.is_given_probabilities is YES and loss.first is not None:
                change = loss.as_logarithms
                yield self.report(
                    place,
                    f"`{name}` takes log-probabilities first, and `{loss.first.call.callee}` made probabilities",
                    related=[(loss.first.call.place, "made here")],
                    help="take the logarithm of the first argument, by `log_softmax`",
                    fix=[Replace(*change)] if change is not None else (),
                )
            elif loss.second is not None and loss.target_is_logarithms is YES and loss.takes_log_target is NO:
                yield self.report(
                    place,
                    f"`{name}` takes probabilities second, and `{loss.second.call.callee}` made logarithms",
                    related=[(loss.second.call.place, "made here")],
                    help="pass `log_target=True`",
                    fix=[SetArgument(settings, "log_target", "True")],
                )
            elif loss.second is not None and loss.target_is_logarithms is NO and loss.takes_log_target is YES:
                yield self.report(
                    place,
                    f"`log_target=True`, and `{loss.second.call.callee}` made probabilities",
                    related=[(loss.second.call.place, "made here")],
                    help="pass log-probabilities, or `log_target=False`",
                    fix=[SetArgument(settings, "log_target", "False")],
                )
            elif loss.is_averaged_over_classes is YES:
                yield self.report(
                    loss.settings.place,
                    f"`{loss.settings.callee}` divides by the number of all elements, not by the batch",
                    severity=Severity.WARNING,
                    help='pass `reduction="batchmean"`',
                    fix=[SetArgument(settings, "reduction", '"batchmean"')],
                )
