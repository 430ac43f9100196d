"""What only shows when the scripts of a project run that lead to a file: with their objects and arguments.

A fault that a script meets in another module stands in that module, and is reported there, if every script that comes
to the place meets it. Else the script is at fault: its call that leads there is the place. So each fault has one file,
whichever file is asked for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from llm_lsp.named_tuples import NamedTuple
from llm_lsp.remembering import RememberingWorld

if TYPE_CHECKING:
    from llm_lsp.facts import Facts, Place
    from llm_lsp.registry import RuleEntry
    from llm_lsp.rule import Report
    from llm_lsp.source import Source
    from llm_lsp.world import World

__all__ = ["Found", "Run", "Runs", "WholeProgram"]

_MOST_KEPT = 64
_KEPT_CHARACTERS = 200_000
"""Of the files whose runs are kept; what is known of a file takes far more memory than its text."""

Check = Callable[["RuleEntry", "Facts"], "list[Report] | None"]


class Found(NamedTuple):
    """A report, with the script that meets the fault where that is another file."""

    entry: RuleEntry
    report: Report
    script: Source | None


class WholeProgram:
    """A file, with the scripts that lead to it.

    Args:
        run: of the file by itself.
        runs: where those of the scripts are kept.
        check: what a rule says of some facts; None where it fails.
    """

    def __init__(self, run: Run, runs: Runs, check: Check) -> None:
        self._run = run
        self._runs = runs
        self._check = check
        self._entered = run.facts.ways.entered

    def leads_to_what_triggers(self, entry: RuleEntry) -> bool:
        """Whether another module of the project, into which this one leads, gives a reason to run a rule."""
        return any(entry.is_triggered_by(source.snippets) for source in self._entered)

    def by_itself(self, entry: RuleEntry) -> Iterator[Found]:
        """What a rule says of the file when it runs by itself."""
        for report in self._run.says(entry, self._check):
            if report.place.path == self._run.source.path:
                yield Found(entry, report, None)
            elif not self._stands_there(entry, report):
                yield from self._brought_home(entry, report)

    def by_scripts(self, entries: Sequence[RuleEntry]) -> Iterator[Found]:
        """What the rules say of the file when the scripts run that lead to it."""
        source, facts = self._run.source, self._run.facts
        scripts = facts.world.scripts(source.path) if facts.ways.may_be_led_to else None
        others = [self._other(script) for script in scripts or ()]
        for run in others:
            for entry in entries:
                for report in run.says(entry, self._check):
                    if report.place.path == source.path and self._agree([self._run, *others], entry, report.place):
                        yield Found(entry, run.with_way(report), run.source)

    def _other(self, source: Source) -> Run:
        return self._runs.run(source, self._run.world.world, self._run.source, self._run.stop.asked)

    def _agree(self, runs: Iterable[Run], entry: RuleEntry, place: Place) -> bool:
        """Whether everybody who comes to a place says the same of it."""
        return all(self._says(run, entry, place) or not run.facts.ways.reach(place) for run in runs)

    def _says(self, run: Run, entry: RuleEntry, place: Place) -> bool:
        said = (report.place for report in run.says(entry, self._check))
        return any(other.path == place.path and other.range == place.range for other in said)

    # ------------------------------------------------------------ faults in other modules

    def _stands_there(self, entry: RuleEntry, report: Report) -> bool:
        """Whether the module in which a fault is found reports it when it is asked itself, or nobody does."""
        source, facts = self._run.source, self._run.facts
        module = next((one for one in facts.ways.modules if one.path == report.place.path), None)
        if module is None:
            return True
        if not entry.is_triggered_by(module.snippets):
            return False
        if self._says(self._other(module), entry, report.place):
            return True
        scripts = facts.world.scripts(module.path)
        if scripts is None or all(script.path != source.path for script in scripts):
            return False
        others = [module, *(script for script in scripts if script.path != source.path)]
        return self._agree([self._run, *map(self._other, others)], entry, report.place)

    def _brought_home(self, entry: RuleEntry, report: Report) -> Iterator[Found]:
        """The same report where this module makes the call that leads to the place."""
        place = self._run.facts.ways.call_towards(report.place)
        if place is None:
            here = (related for related, _ in report.related if related.path == self._run.source.path)
            place = next(here, None)
        if place is not None:
            related = ((report.place, "the place in the other file"), *report.related)
            yield Found(entry, report._replace(place=place, related=related, repair=None), None)


class Run:
    """A file that was run by itself, and what rules say of that."""

    __slots__ = ("_said", "facts", "source", "stop", "world")

    def __init__(self, source: Source, world: _SharedWorld, stop: Callable[[], bool]) -> None:
        from llm_lsp.facts import Facts

        self.source = source
        self.world = world
        self.stop = _Stop(stop)
        self.facts = Facts(source, world, self.stop)
        self._said: dict[str, list[Report]] = {}

    def says(self, entry: RuleEntry, check: Check) -> list[Report]:
        """What a rule reports, in whichever file."""
        said = self._said.get(entry.code)
        if said is None:
            said = check(entry, self.facts)
            if said is None:
                return []
            self._said[entry.code] = said
        return said

    def with_way(self, report: Report) -> Report:
        """The report with the call here that leads to its place, and without a fix, which would be for this file."""
        call = self.facts.ways.call_towards(report.place)
        related = report.related
        if call is not None and all(place.path != self.source.path for place, _ in related):
            related = (*related, (call, "called from here"))
        return report._replace(related=related, repair=None)


class _Stop:
    """Whoever asks for a run now says when it is to stop."""

    __slots__ = ("asked",)

    def __init__(self, asked: Callable[[], bool]) -> None:
        self.asked = asked

    def __call__(self) -> bool:
        return self.asked()


class Runs:
    """Runs of files, kept for the other files that ask for them, as long as what they rest on is the same."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Run] = OrderedDict()

    def run(self, source: Source, world: World, newest: Source, stop: Callable[[], bool]) -> Run:
        """A file that is run by itself.

        Args:
            source: the file.
            world: of the file that asks.
            newest: the file that asks, whose text may be newer than what lies on the disk.
            stop: as in `lint`.
        """
        kept = self._kept.pop(source.path, None)
        if kept is not None and kept.source.data == source.data and kept.world.answers_alike(world, newest):
            kept.stop.asked = stop
        else:
            if kept is not None:
                kept.facts.close()
            kept = Run(source, _SharedWorld(world, newest), stop)
        self._kept[source.path] = kept
        return kept

    def trim(self) -> None:
        """Let go of the runs that were not asked for lately."""
        characters = sum(len(run.source.text) for run in self._kept.values())
        while self._kept and (len(self._kept) > _MOST_KEPT or characters > _KEPT_CHARACTERS):
            _, run = self._kept.popitem(last=False)
            characters -= len(run.source.text)
            run.facts.close()

    def close(self) -> None:
        """Let go of all runs."""
        for run in self._kept.values():
            run.facts.close()
        self._kept.clear()


class _SharedWorld(RememberingWorld[object]):
    """The world of a run that is kept for other files, in which one module's text may be newer than its file."""

    def __init__(self, world: World, newest: Source) -> None:
        super().__init__(world)
        self._newest = newest

    def answers_alike(self, world: World, newest: Source) -> bool:
        """Whether another world, which is asked from now on, says the same."""
        self.world, self._newest = world, newest
        before = self.asked
        self.asked = {}
        return all(self.again(question) == answer for question, answer in before.items())

    def mark(self, answer: object) -> object:
        return answer

    def mark_files(self, answer: object) -> object:
        return answer

    def found(self, source: Source) -> Source:
        return self._newest if source.path == self._newest.path else source
