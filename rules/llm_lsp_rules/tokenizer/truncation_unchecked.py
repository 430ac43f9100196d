"""LLM107 truncation-unchecked."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.rule import NO, Bad, Call, Change, EnsureImport, Facts, Good, InsertAfter, Report, Rule, Severity


class TruncationUnchecked(Rule):
    """Text is cut to a maximum length, and nothing looks at how long it was.

    A tokenizer that truncates says nothing: the end of the document, which often holds the question or the answer, is
    gone, and the scores fall for no visible reason. `max_length` alone, with neither `truncation` nor `padding`,
    truncates as well.

    Any of these shows that somebody looks, and silences the rule: the length, of the text or of its ids, is compared,
    printed or logged; the rest is kept by `return_overflowing_tokens=True` or a `stride`; the text was split, counted
    or cut (`text[:2000]`) before. The rule is also silent on texts that the program itself holds, and where the ids
    are returned to a caller that is not seen.

    In training, cutting is often meant: there the rule only informs. Where the text goes to a model that nobody trains
    with it (a user's document, a prompt, a test set), it warns, and the fix adds a warning of its own for texts that
    reach the limit.
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
            fixed="""\
import warnings
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("roberta-base")
model = AutoModel.from_pretrained("roberta-base")

def embed(document):
    inputs = tokenizer(document, truncation=True, max_length=512, return_tensors="pt")
    if inputs["attention_mask"].sum(-1).max() >= 512:
        warnings.warn(f"a text reaches the limit of {512} tokens and may have been cut")
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
            if call.text_is_written_here or call.is_in_a_test or call.length_is_examined is not NO:
                continue
            is_inference = call.prepares_training is NO
            yield self.report(
                place,
                f"text is cut to {_limit(call)} and nobody looks at its length",
                severity=None if is_inference else Severity.INFORMATION,
                help="compare the length with the limit, or keep the rest with `return_overflowing_tokens=True`",
                fix=_warning(call) if is_inference else [],
                fix_message="Warn when a text reaches the limit",
            )


def _limit(call: Call) -> str:
    limit = call.argument("max_length")
    if limit is None or limit.constant is None:
        return "`max_length`" if limit is not None else "the model's limit"
    return f"{limit.constant} tokens"


def _warning(call: Call) -> list[Change]:
    """A check after the statement, where the result has a name and is a tensor, so that one line can count its tokens."""
    name, limit, tensors = call.result_name, call.limit, call.argument("return_tensors")
    if name is None or limit is None or tensors is None or tensors.constant not in {"pt", "np"}:
        return []
    if call.name == "apply_chat_template" or call.passes("return_attention_mask") is not NO:
        return []
    length = f"{name}.shape[-1]" if call.name == "encode" else f'{name}["attention_mask"].sum(-1).max()'
    reached = f"a text reaches the limit of {limit} tokens and may have been cut"
    text = f'"{reached}"' if limit.isdigit() else 'f"' + reached.replace(limit, "{" + limit + "}") + '"'
    check = f"if {length} >= {limit}:\n    warnings.warn({text}, stacklevel=2)"
    return [EnsureImport("warnings"), InsertAfter(call.place.range, check)]
