"""LLM107 truncation-unchecked."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Facts, Good, Report, Rule, Severity


class TruncationUnchecked(Rule):
    """Text is cut to a maximum length, and nothing looks at how long it was.

    A tokenizer that truncates says nothing: the end of the document, which often holds the question or the answer, is
    gone, and the scores fall for no visible reason. `max_length` alone, with neither `truncation` nor `padding`,
    truncates as well. Compare the length with the limit, keep the rest with `return_overflowing_tokens=True` and a
    `stride`, or split the text before.

    In training, cutting is often meant: there the rule only informs.
    """

    code = "LLM107"
    severity = Severity.WARNING
    triggers = ("truncation", "max_length")
    bad = [
        Bad(
            """\
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")
model = AutoModel.from_pretrained("roberta-base")

def embed(document):
    inputs = tokenizer(document, truncation=True, max_length=512, return_tensors="pt")  # <- cut to 512 tokens
    return model(**inputs).last_hidden_state[0, 0].tolist()
""",
        ),
    ]
    good = [
        Good("""\
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")

def windows(document):
    return tokenizer(document, truncation=True, max_length=512, stride=64, return_overflowing_tokens=True)
"""),
    ]

    def check(self, facts: Facts) -> Iterator[Report]:
        for call in facts.tokenizations():
            place = call.cuts_text
            if place is None or call.passes("return_overflowing_tokens", "stride", "return_length") is not NO:
                continue
            if call.length_is_examined is not NO or call.text_is_written_here:
                continue
            limit = call.argument("max_length")
            size = limit.constant if limit is not None else None
            to = (
                f" to {size} tokens"
                if isinstance(size, int)
                else " to `max_length`"
                if limit
                else " to the model's limit"
            )
            yield self.report(
                place,
                f"text is cut{to} and nobody looks at its length",
                severity=Severity.INFORMATION if call.prepares_training is not NO else None,
                help="compare the length with the limit, or keep the rest with `return_overflowing_tokens=True`",
            )
