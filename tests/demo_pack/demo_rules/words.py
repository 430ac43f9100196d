"""Each rule reports each occurrence of one word."""

from __future__ import annotations

from collections.abc import Iterator

from llm_lsp.diagnostic import Position, Range
from llm_lsp.rule import Facts, Place, Replace, Report, Rule, Severity


def places(facts: Facts, word: str) -> Iterator[Place]:
    for row, line in enumerate(facts.source.text.split("\n"), 1):
        column = line.find(word)
        while column >= 0:
            start, end = Position(row, column + 1), Position(row, column + 1 + len(word))
            yield Place(facts.source.path, Range(start, end), word)
            column = line.find(word, column + 1)


class LoudWord(Rule):
    """A word is shouted.

    Nobody listens to those who shout.
    """

    code = "DEM101"
    severity = Severity.ERROR
    triggers = ("LOUD",)

    def check(self, facts: Facts) -> Iterator[Report]:
        first: Place | None = None
        for place in places(facts, "LOUD"):
            related = [(first, "and before")] if first else []
            first = first or place
            yield self.report(
                place, "`LOUD` is shouted", related=related, help="say `calm`", fix=[Replace(place.range, "calm")]
            )


class PlainWord(Rule):
    """A word is plain."""

    code = "DEM102"
    severity = Severity.WARNING
    triggers = ("PLAIN",)

    def check(self, facts: Facts) -> Iterator[Report]:
        for place in places(facts, "PLAIN"):
            yield self.report(place, "`PLAIN` is dull", fix=[Replace(place.range, "fancy")], safe=True)


class SmallWord(Rule):
    """A word is small."""

    code = "DEM103"
    severity = Severity.INFORMATION
    triggers = ("SMALL",)

    def check(self, facts: Facts) -> Iterator[Report]:
        for place in places(facts, "SMALL"):
            yield self.report(place, "`SMALL` is small")


class RudeWord(Rule):
    """A word is rude, to the taste of some."""

    code = "DEM104"
    severity = Severity.WARNING
    default = False
    triggers = ("RUDE",)

    def check(self, facts: Facts) -> Iterator[Report]:
        for place in places(facts, "RUDE"):
            yield self.report(place, "`RUDE` is rude")


class WordThatFails(Rule):
    """A rule with a bug."""

    code = "DEM105"
    severity = Severity.ERROR
    triggers = ("CRASH",)

    def check(self, facts: Facts) -> Iterator[Report]:
        raise ZeroDivisionError(f"the rule's own bug in {facts.source.path}")
