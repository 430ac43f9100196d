"""What facts and rules cost, against `ast.parse` of the same files in the same process: `python -m benchmarks.facts`.

Times are CPU seconds of this process, with the garbage collector off and each tree dropped, the cheapest of some runs.
The first run downloads the libraries into `.cache/bench`.
"""

from __future__ import annotations

import ast
import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from benchmarks import project
from benchmarks.run import CACHE, verdict
from llm_lsp.linter import lint
from llm_lsp.project import Project, ProjectFile
from llm_lsp.registry import enabled, entries
from llm_lsp.source import Source
from llm_lsp.whole_program import Runs

LIBRARIES = ("trl==1.16.0", "peft==0.21.2", "litgpt==0.5.13", "lm-eval==0.4.13")
TRANSFORMERS = "transformers==5.24.0"
SIZES = (1, 2, 4, 8, 16, 32, 64)

MOST_TIMES_PARSE = 4
MOST_GROWTH = 1.2
MOST_SECONDS = 2
MOST_MEGABYTES = 300


def cpu(runs: Sequence[Callable[[], float]], times: int) -> list[float]:
    """The cheapest of some runs of each: what else the machine does only ever adds.

    By turns, since a noisy machine is not as fast in one minute as in the next.
    """
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(times):
        for run, costs in zip(runs, found, strict=True):
            gc.collect()
            gc.disable()
            costs.append(run())
            gc.enable()
    return [min(costs) for costs in found]


def parse(paths: Iterable[Path]) -> float:
    """CPU seconds of parsing the files."""
    texts = [path.read_bytes() for path in paths]
    start = time.process_time()
    for text in texts:
        ast.parse(text)
    return time.process_time() - start


class ParsedApart(Project):
    """A project that counts the time in which files are read and parsed for the first time; again is on whom it is for."""

    def __init__(self, paths: Iterable[Path]) -> None:
        super().__init__(paths, isolated=True, cached=False)
        self.spent_on_first = 0.0
        self._seen: set[Path] = set()

    def source(self, file: ProjectFile) -> Source:
        start = time.process_time()
        source = super().source(file)
        if file.path not in self._seen:
            self._seen.add(file.path)
            self.spent_on_first += time.process_time() - start
        return source


def check(paths: Iterable[Path]) -> float:
    """CPU seconds of facts and rules, all that are on by default, over files that have been read and parsed."""
    spent = 0.0
    known = ParsedApart(paths)
    rules, runs = entries(), Runs()
    for file in known.files():
        source = known.source(file)
        world, chosen = known.world_for(file), enabled(rules, file.settings, file.path)
        world.scripts(source.path)  # which reads the import statements of all files
        before, start = known.spent_on_first, time.process_time()
        lint(source, world, file.settings, chosen, runs=runs)
        spent += time.process_time() - start - (known.spent_on_first - before)
    return spent


def fetched(requirement: str) -> Path:
    """The sources of a library, without what it needs to run."""
    folder = CACHE / requirement.partition("==")[0]
    if not folder.is_dir():
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--target", folder, requirement], check=True)
    return next(path for path in sorted(folder.iterdir()) if (path / "__init__.py").is_file())


def libraries(folder: Path) -> None:
    """Facts and all rules over real code."""
    print("facts and all rules, CPU seconds against `ast.parse`")
    whole, parsed = 0.0, 0.0
    for requirement in LIBRARIES:
        source = folder / requirement.partition("==")[0]
        # Copied: below an ignored folder everything is ignored.
        shutil.copytree(fetched(requirement), source, ignore=shutil.ignore_patterns("__pycache__"))
        paths = sorted(source.rglob("*.py"))
        ours, theirs = cpu([partial(check, paths), partial(parse, paths)], 4)
        whole, parsed = whole + ours, parsed + theirs
        print(f"  {requirement:20} {len(paths):5} files {theirs:8.3f} {ours:8.3f}   {ours / theirs:5.2f} times")
    kept = verdict(whole / parsed <= MOST_TIMES_PARSE)
    print(
        f"  {'together':32} {parsed:8.3f} {whole:8.3f}   {whole / parsed:5.2f} times, at most {MOST_TIMES_PARSE} {kept}"
    )


def growth(folder: Path) -> None:
    """Files that import each other in a circle: what each costs must not depend on how many there are."""
    print("files that import each other, CPU milliseconds for each")
    runs = [partial(check, project.write_circle(folder / str(size), size)) for size in SIZES]
    each = [cost / size for cost, size in zip(cpu(runs, 7), SIZES, strict=True)]
    for size, cost in zip(SIZES, each, strict=True):
        print(f"  {size:3} files {cost * 1000:8.2f}")
    # One file pays for what is made once: the classes of rules, the tables.
    grown = each[-1] / min(each[1:])
    print(f"  64 files against the cheapest    {grown:8.2f}   at most {MOST_GROWTH} {verdict(grown <= MOST_GROWTH)}")


def worst_file() -> None:
    """Each file of transformers by itself: ten to fifteen minutes on two cores."""
    source = fetched(TRANSFORMERS)
    paths = sorted(source.rglob("*.py"))
    print(f"{TRANSFORMERS}, each of {len(paths)} files by itself, the worst")
    found = costs_of(paths)
    for index, (unit, most) in enumerate((("CPU seconds", MOST_SECONDS), ("megabytes", MOST_MEGABYTES))):
        worst, path = max((cost[index], path) for cost, path in zip(found, paths, strict=True))
        name = path.relative_to(source).as_posix()
        print(f"  {unit:32} {worst:8.2f}   at most {most} {verdict(worst <= most)}   {name}")


def costs_of(paths: Iterable[Path]) -> list[tuple[float, float]]:
    """What one check of each file costs, each in a process of its own that has begun already, on all cores."""
    with get_context("fork").Pool(maxtasksperchild=1) as processes:
        return list(processes.imap(cost_of, paths, chunksize=1))


def cost_of(path: Path) -> tuple[float, float]:
    """CPU seconds and peak megabytes of one check in this process."""
    gc.disable()
    start = time.process_time()
    check([path])
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e6 / 1024)
    return time.process_time() - start, used


def pathological(folder: Path) -> None:
    """A file as nobody writes them."""
    path = folder / "pathological.py"
    path.write_text(project.pathological_text(), encoding="utf-8")
    [(seconds, megabytes)] = costs_of([path])
    lines = path.read_bytes().count(b"\n")
    print(f"{lines:,} lines with a 200-way dispatch, mutual recursion and 50 nested closures")
    print(
        f"  CPU seconds                      {seconds:8.2f}   at most {MOST_SECONDS} {verdict(seconds <= MOST_SECONDS)}"
    )
    print(
        f"  megabytes                        {megabytes:8.1f}   at most {MOST_MEGABYTES} {verdict(megabytes <= MOST_MEGABYTES)}"
    )


if __name__ == "__main__":
    if not hasattr(os, "fork"):
        sys.exit("the benchmarks need os.fork, which this system does not have")
    with tempfile.TemporaryDirectory() as temporary:
        libraries(Path(temporary))
        growth(Path(temporary))
        pathological(Path(temporary))
    worst_file()
