"""The rules and settings that the command line asks for, laid over those of the settings files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from llm_lsp.cli.usage import UsageError
from llm_lsp.diagnostic import Severity
from llm_lsp.project import Project, ProjectFile
from llm_lsp.registry import RuleEntry, enabled, known
from llm_lsp.settings import Settings, check_codes, unknown_selector

__all__ = ["Selection", "project_of"]


class Selection:
    """Which rules run on which file.

    As with ruff, `--select` starts anew, whatever the settings select and ignore; `--ignore` and `--extend-select`
    add to what is there.
    """

    def __init__(self, options: Namespace, entries: tuple[RuleEntry, ...]) -> None:
        self._entries = entries
        self._names = known(entries)
        self._names_python = options.python is not None
        self._select = self._selectors("--select", options.select)
        self._extend_select = self._selectors("--extend-select", options.extend_select)
        self._ignore = self._selectors("--ignore", options.ignore)
        # By identity, since settings hold mappings; the originals are kept so that the identities stay.
        self._effective: dict[int, tuple[Settings, Settings]] = {}

    def settings_of(self, file: ProjectFile) -> Settings:
        """The settings of a file with the command line's rules; SettingsError where they name a rule nobody has."""
        key = id(file.settings)
        if key not in self._effective:
            check_codes(file.settings, self._names)
            self._effective[key] = (file.settings, self._with_options(file.settings))
        return self._effective[key][1]

    def check_all(self, project: Project, files: Iterable[ProjectFile]) -> None:
        """Raise SettingsError or EnvironmentNotFoundError where one of the files' settings can't be used.

        Before the first file is linted: half a report looks like a whole one.
        """
        seen: set[int] = set()
        for file in files:
            if id(file.settings) not in seen:
                seen.add(id(file.settings))
                self.settings_of(file)
                if self._names_python or file.settings.python is not None:
                    project.environment_of(file)

    def rules_for(self, file: ProjectFile) -> tuple[RuleEntry, ...]:
        """The rules to run on a file."""
        return enabled(self._entries, self.settings_of(file), file.path)

    def _with_options(self, settings: Settings) -> Settings:
        if self._select:
            return settings._replace(select=self._select, extend_select=self._extend_select, ignore=self._ignore)
        return settings._replace(
            extend_select=(*settings.extend_select, *self._extend_select),
            # What is asked for by hand now is not ignored by what was written down before.
            ignore=(*(word for word in settings.ignore if word not in self._extend_select), *self._ignore),
        )

    def _selectors(self, option: str, given: Iterable[str] | None) -> tuple[str, ...]:
        words = [word.strip() for text in given or () for word in text.split(",")]
        selectors = tuple(dict.fromkeys(filter(None, words)))
        if given is not None and not selectors:
            raise UsageError(f"{option} names no rule")
        for selector in selectors:
            wrong = None if selector == "ALL" else unknown_selector(selector, self._names)
            if wrong is not None:
                raise UsageError(f"{option}: {wrong} (`llm-lint rule --all` lists the rules)")
        return selectors


def project_of(options: Namespace, paths: Iterable[str]) -> Project:
    """The project of some paths, with the settings that the command line names."""
    overrides: dict[str, object] = {}
    if options.force_exclude:
        overrides["force_exclude"] = True
    if options.fail_on is not None:
        overrides["fail_on"] = None if options.fail_on == "never" else Severity(options.fail_on)
    return Project(
        paths,
        config=Path(options.config) if options.config else None,
        isolated=options.isolated,
        python=Path(options.python) if options.python else None,
        overrides=overrides,
        cached=not getattr(options, "no_cache", False),
    )
