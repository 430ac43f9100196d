"""Real code to try llm-lint on: the sources of published packages, fetched once, read and never imported.

    python scripts/corpus.py            fetch what is missing, print what there is
    python scripts/corpus.py --check    say what is there, fetch nothing

Every package has up to three parts: `package`, what its wheel installs; `tests`, the folders with programs that only
its source distribution carries; `docstrings`, the example programs that its docstrings show, one file each.
"""

from __future__ import annotations

import argparse
import ast
import doctest
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "corpus"

SUFFIXES = (".py", ".ipynb")
_PROGRAM_FOLDERS = ("benchmarks", "examples", "extensions", "notebooks", "tests", "tutorials")
_FENCE = re.compile(r"^([ \t]*)```py(?:thon)?\n(.*?)^\1```", re.DOTALL | re.MULTILINE)


class Package(NamedTuple):
    """A published package at the version that the corpus holds."""

    name: str
    version: str
    parts: tuple[str, ...]

    @property
    def folder(self) -> str:
        return f"{self.name}-{self.version}"


PACKAGES = (
    Package("trl", "1.16.0", ("package", "docstrings")),
    Package("peft", "0.21.2", ("package", "tests", "docstrings")),
    Package("accelerate", "1.15.0", ("package", "tests", "docstrings")),
    Package("litgpt", "0.5.13", ("package", "tests")),
    Package("sentence-transformers", "6.2.0", ("package", "tests")),
    # Its own code is the library that the rules know as data; its docstrings are hundreds of small right programs.
    Package("transformers", "5.24.0", ("docstrings",)),
)


class CorpusFile(NamedTuple):
    """One program."""

    package: str
    part: str
    path: Path

    @property
    def is_test(self) -> bool:
        """Whether it is a test, wherever it lies: accelerate ships its own."""
        words = {*self.path.parts[self.path.parts.index(self.part) :], self.path.stem.partition("_")[0]}
        return self.part == "tests" or not words.isdisjoint({"test", "tests", "test_utils", "testing"})


class FetchError(Exception):
    """A package could not be fetched; the message is for the user."""


def files(cache: Path = CACHE) -> Iterator[CorpusFile]:
    """Every program of the packages that are there, in a stable order."""
    for package in PACKAGES:
        for part in package.parts:
            for path in sorted((cache / package.folder / part).rglob("*")):
                if path.suffix in SUFFIXES and path.is_file():
                    yield CorpusFile(package.name, part, path)


def missing(cache: Path = CACHE) -> list[Package]:
    """The packages that are not in the cache."""
    return [package for package in PACKAGES if not (cache / package.folder).is_dir()]


def fetch(package: Package, cache: Path = CACHE) -> None:
    """Bring a package into the cache; it is there whole, or not at all.

    Raises:
        FetchError: pip could not download it.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as temporary:
        work = Path(temporary)
        done = work / "done"
        with zipfile.ZipFile(_downloaded(package, work / "wheel", "--only-binary")) as wheel:
            wheel.extractall(done / "package")  # noqa: S202 - `zipfile` lets no member out of the folder
        if "tests" in package.parts:
            _unpack_programs(_downloaded(package, work / "sdist", "--no-binary"), done / "tests")
        if "docstrings" in package.parts:
            _write_docstring_programs(done / "package", done / "docstrings")
        if "package" not in package.parts:
            shutil.rmtree(done / "package")
        done.rename(cache / package.folder)


def _downloaded(package: Package, folder: Path, kind: str) -> Path:
    # For a source distribution pip runs the package's build back end to learn its name; nothing else is run.
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", kind, ":all:", "--dest", str(folder)]
    requirement = f"{package.name}=={package.version}"
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FetchError(f"pip could not download {requirement}:\n{done.stderr.strip()}")
    (path,) = folder.iterdir()
    return path


def _unpack_programs(sdist: Path, target: Path) -> None:
    """Of a source distribution what its wheel has not got: the folders at its top that hold programs."""
    with tarfile.open(sdist) as archive:
        for member in archive.getmembers():
            below = Path(member.name).parts[1:]
            if not (member.isfile() and below and below[0] in _PROGRAM_FOLDERS and ".." not in below):
                continue
            content = archive.extractfile(member)
            if content is not None and Path(member.name).suffix in SUFFIXES:
                path = target.joinpath(*below)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content.read())


# ---------------------------------------------------------------- programs in docstrings


def _write_docstring_programs(package: Path, target: Path) -> None:
    written: set[str] = set()  # many classes of transformers are copies of each other, docstring and all
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if "from_pretrained" not in text:
            continue
        name = ".".join(path.relative_to(package).with_suffix("").parts)
        for line, program in docstring_programs(text):
            if program in written:
                continue
            written.add(program)
            target.mkdir(parents=True, exist_ok=True)
            (target / f"{name}.{line}.py").write_text(program, encoding="utf-8")


def docstring_programs(text: str) -> Iterator[tuple[int, str]]:
    """The example programs in a module's docstrings, with the line of what they document.

    A docstring's doctests are one program; each fenced block of Python is one of its own. Half a line in and it is not
    a program: what does not parse, or loads nothing, is left out.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for number, program in enumerate(_programs_of(ast.get_docstring(node) or "")):
            if "from_pretrained" in program and _parses(program):
                yield getattr(node, "lineno", 0) * 10 + number, program


def _programs_of(docstring: str) -> Iterator[str]:
    try:
        examples = doctest.DocTestParser().get_examples(docstring)
    except ValueError:
        examples = []
    if examples:
        yield "".join(example.source for example in examples)
    for match in _FENCE.finditer(docstring):
        if ">>>" not in match[2]:
            yield textwrap.dedent(match[2])


def _parses(program: str) -> bool:
    try:
        ast.parse(program)
    except (SyntaxError, ValueError):
        return False
    return True


# ---------------------------------------------------------------- the command


def main() -> int:
    """Fetch what is missing and count what is there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fetch nothing")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the packages lie (default: .cache/corpus)")
    options = parser.parse_args()
    for package in [] if options.check else missing(options.cache):
        print(f"fetching {package.folder}", file=sys.stderr)
        try:
            fetch(package, options.cache)
        except FetchError as error:
            print(error, file=sys.stderr)
            return 2
    counts: Counter[tuple[str, str]] = Counter()
    lines: Counter[tuple[str, str]] = Counter()
    for file in files(options.cache):
        counts[file.package, file.part] += 1
        lines[file.package, file.part] += file.path.read_bytes().count(b"\n")
    for package in PACKAGES:
        for part in package.parts:
            key = (package.name, part)
            print(f"{package.folder:28} {part:12} {counts[key]:5} files {lines[key]:8,} lines")
    return 1 if missing(options.cache) else 0


if __name__ == "__main__":
    sys.exit(main())
