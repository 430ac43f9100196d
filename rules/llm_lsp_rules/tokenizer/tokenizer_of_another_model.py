"""LLM101 tokenizer-of-another-model."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Facts, Good, Replace, Report, Rule, Severity


class TokenizerOfAnotherModel(Rule):
    """The tokenizer's vocabulary is not the model's, so the ids mean other words to the model.

    A model knows tokens only as rows of its embedding matrix. Fed with the ids of another vocabulary it looks up the
    wrong rows: nothing is raised while the ids are in range, the output is fluent or plausible and wrong, and with a
    larger vocabulary a lookup fails on the GPU with a device-side assert. Load both from the same checkpoint.

    Checkpoints that share a vocabulary (a base model and its fine-tunes, BART and RoBERTa, quantized copies) are no
    fault, and a checkpoint that is not known says nothing.
    """

    code = "LLM101"
    severity = Severity.ERROR
    triggers = ("from_pretrained", "pipeline(")
    bad = [
        Bad(
            """\
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("distilbert-base-cased")  # <- feeds model `distilbert-base-uncased`
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")
print(model(**tokenizer("A fine film.", return_tensors="pt")).logits.argmax(-1).item())
""",
            fixed="""\
from transformers import AutoModelForSequenceClassification, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased")
print(model(**tokenizer("A fine film.", return_tensors="pt")).logits.argmax(-1).item())
""",
        ),
    ]
    good = [
        Good("""\
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("facebook/bart-large")
model = AutoModelForSeq2SeqLM.from_pretrained("facebook/bart-large-cnn")
print(model.generate(**tokenizer("A long story.", return_tensors="pt")))
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for meeting in facts.meetings():
            if meeting.vocabulary_is_shared is not NO:
                continue
            tokenizer, model = meeting.tokenizer, meeting.model
            tokens, rows = (
                (f" ({meeting.sizes[0]:,} tokens)", f" ({meeting.sizes[1]:,})") if meeting.sizes else ("", "")
            )
            spelling = model.spelling_for(tokenizer)
            yield self.report(
                tokenizer.load.place,
                f"tokenizer `{tokenizer.name}`{tokens} feeds model `{model.name}`{rows}",
                severity=None if meeting.is_certain else Severity.WARNING,
                related=[(model.load.place, model.said("the model")), (meeting.place, "meets the model here")],
                help=f"load the tokenizer of `{model.text}`",
                fix=[Replace(tokenizer.name_place.range, spelling)] if spelling and tokenizer.name_place else (),
            )
