"""Which versions of a library a project admits, and questions about such a range."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from llm_lsp.named_tuples import NamedTuple

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

__all__ = ["Requirement", "is_specifier", "normalised"]


def normalised(distribution: str) -> str:
    """The name under which package indexes know a distribution: lower case, runs of `-`, `_`, `.` as one `-`."""
    parts = distribution.replace("_", "-").replace(".", "-").lower().split("-")
    return "-".join(part for part in parts if part)


def is_specifier(text: str) -> bool:
    """Whether the text is a version specifier as PEP 440 has them; the empty one admits every version."""
    return _parsed(text) is not None


class Requirement(NamedTuple):
    """The versions that a project declares, locks or has installed.

    Declarations that differ (two requirement files, one dependency under two markers) are alternatives: what any of
    them admits is admitted. An alternative without a specifier, such as a Git address, admits every version.
    """

    alternatives: tuple[str, ...]
    source: str
    """Where it comes from, for a message: `uv.lock`, `pyproject.toml`, `requirements.txt, requirements-dev.txt`."""

    @property
    def specifier(self) -> str:
        """The range as text, for a message."""
        return " or ".join(alternative or "any version" for alternative in self.alternatives)

    def admits(self, specifier: str) -> bool:
        """Whether some admitted version lies in `specifier`; True where that can't be told."""
        return self._any_point(specifier, inside=True)

    def is_within(self, specifier: str) -> bool:
        """Whether every admitted version lies in `specifier`; False where that can't be told."""
        return not self._any_point(specifier, inside=False)

    def lower(self) -> str | None:
        """The bound below which no alternative admits a version; None where one has no lower bound."""
        bounds = [[low for low, _ in _bounds(_parsed(each)) if low is not None] for each in self.alternatives]
        return str(min(max(each) for each in bounds)) if bounds and all(bounds) else None

    def upper(self) -> str | None:
        """The bound above which no alternative admits a version, itself perhaps excluded; None where one has none."""
        bounds = [[high for _, high in _bounds(_parsed(each)) if high is not None] for each in self.alternatives]
        return str(max(min(each) for each in bounds)) if bounds and all(bounds) else None

    def _any_point(self, specifier: str, *, inside: bool) -> bool:
        wanted = _parsed(specifier)
        if wanted is None:
            raise ValueError(f"`{specifier}` is not a version specifier")
        for alternative in self.alternatives:
            admitted = _parsed(alternative)
            if admitted is None:
                return True
            for point in _points((admitted, wanted)):
                if admitted.contains(point, prereleases=True) and wanted.contains(point, prereleases=True) is inside:
                    return True
        return False


def _parsed(specifier: str) -> SpecifierSet | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        return SpecifierSet(specifier)
    except InvalidSpecifier:
        return None


def _named(specifiers: SpecifierSet | None) -> list[tuple[str, Version, bool]]:
    """The versions written in a specifier, with their operators; `4.*` is named as `4`, and True."""
    from packaging.version import InvalidVersion, Version

    named: list[tuple[str, Version, bool]] = []
    for specifier in specifiers or ():
        text = specifier.version.removesuffix(".*")
        try:
            named.append((specifier.operator, Version(text), text != specifier.version))
        except InvalidVersion:
            continue  # `===` takes any text
    return named


def _bounds(specifiers: SpecifierSet | None) -> Iterator[tuple[Version | None, Version | None]]:
    """The lower and upper bound that each part of a specifier sets."""
    for operator, version, is_prefix in _named(specifiers):
        if operator in (">=", ">"):
            yield version, None
        elif operator in ("<=", "<"):
            yield None, version
        elif operator == "~=":
            yield version, _next(version, len(version.release) - 1)
        elif operator in ("==", "==="):
            yield version, _next(version, len(version.release)) if is_prefix else version


def _next(version: Version, length: int) -> Version:
    """The first release that does not begin with the first `length` numbers of `version`."""
    from packaging.version import Version

    release = version.release[:length]
    return Version(f"{version.epoch}!{'.'.join(map(str, (*release[:-1], release[-1] + 1)))}")


def _points(sets: tuple[SpecifierSet, SpecifierSet]) -> list[Version]:
    """One version in each gap that the named versions leave, and those versions: enough to tell any overlap.

    Both sets are unions of intervals whose ends are named versions, or the next release above one (`~=`, `==4.*`).
    """
    from packaging.version import Version

    points = {Version("0.dev0"), Version("999999")}
    for _, version, _ in [*_named(sets[0]), *_named(sets[1])]:
        points.add(version)
        points.add(Version(version.base_version))
        release = version.release
        for length in range(1, len(release) + 1):
            epoch = f"{version.epoch}!"
            head = ".".join(map(str, release[: length - 1]))
            for last in (release[length - 1], release[length - 1] + 1):
                start = f"{head}.{last}" if head else str(last)
                points.update((Version(f"{epoch}{start}"), Version(f"{epoch}{start}.0.0.0.0.1")))
            if release[length - 1] > 0:
                below = f"{head}.{release[length - 1] - 1}" if head else str(release[length - 1] - 1)
                points.add(Version(f"{epoch}{below}.999999"))
        points.add(Version(f"{version.epoch}!{'.'.join(map(str, release))}.0.0.0.0.1"))
    return sorted(points)
