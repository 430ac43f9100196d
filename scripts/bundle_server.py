"""Put llm-lint and what it needs into `vscode-client/bundled/`: wheels without compiled parts, with their `dist-info`.

`npm run package` runs this, with an interpreter that has pip and llm-lint's own dependencies.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
BUNDLED = ROOT / "vscode-client" / "bundled"
LIST = ROOT / "vscode-client" / "bundled-requirements.txt"

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
NATIVE = frozenset({"libcst"})
"""Has compiled parts: what needs it uses the copy of the selected environment, or does without."""

_COMPILED = (".so", ".pyd", ".dylib", ".dll")


def main(folder: Path = BUNDLED) -> int:
    """Make the folder anew; the exit code."""
    with TemporaryDirectory() as temporary:
        _pip("wheel", "--no-deps", "--wheel-dir", temporary, str(ROOT))
        pure = ["--only-binary", ":all:", "--platform", "any", "--implementation", "py", "--abi", "none"]
        oldest = ["--python-version", PYTHONS[0]]
        _pip("download", "--no-deps", *pure, *oldest, "--dest", temporary, "--requirement", str(LIST))
        shutil.rmtree(folder, ignore_errors=True)
        for wheel in sorted(Path(temporary).glob("*.whl")):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
    problems = [*missing(folder), *(f"{path} is compiled" for path in compiled(folder))]
    for problem in problems:
        print(f"bundle: {problem}", file=sys.stderr)
    return 1 if problems else 0


def missing(folder: Path) -> Iterator[str]:
    """What the distributions of a folder require, on any supported Python and system, and the folder does not have."""
    found = {canonicalize_name(each.metadata["Name"]): each for each in metadata.distributions(path=[str(folder)])}
    for name, distribution in sorted(found.items()):
        for line in distribution.requires or ():
            requirement = Requirement(line)
            wanted = canonicalize_name(requirement.name)
            if wanted in NATIVE or not any(_holds(requirement, environment) for environment in _environments()):
                continue
            if wanted not in found:
                yield f"{name} requires {requirement}, which is not bundled"
            elif not requirement.specifier.contains(found[wanted].version, prereleases=True):
                yield f"{name} requires {requirement}, and {found[wanted].version} is bundled"


def compiled(folder: Path) -> Iterable[Path]:
    """What runs on one kind of machine only."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in _COMPILED)


def _environments() -> Iterator[dict[str, str]]:
    systems = (("Linux", "linux", "posix"), ("Darwin", "darwin", "posix"), ("Windows", "win32", "nt"))
    for version in PYTHONS:
        for system, platform, name in systems:
            yield {
                "python_version": version,
                "python_full_version": f"{version}.0",
                "platform_system": system,
                "sys_platform": platform,
                "os_name": name,
                "extra": "",
            }


def _holds(requirement: Requirement, environment: dict[str, str]) -> bool:
    return requirement.marker is None or requirement.marker.evaluate(environment)


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *arguments], check=True)


if __name__ == "__main__":
    sys.exit(main())
