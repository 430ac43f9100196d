"""The extension for VS Code, as far as it can be judged without running it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import llm_lsp

ROOT = Path(__file__).resolve().parents[1]
CLIENT = ROOT / "vscode-client"


def read_json(path: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


def addresses(lock: dict[str, Any]) -> list[str]:
    """The packages of a lock file that are tied to one place on the net."""
    return [name for name, entry in lock["packages"].items() if "://" in entry.get("resolved", "")]


def test_the_lock_file_names_no_address_so_that_any_registry_will_do() -> None:
    assert addresses(read_json(ROOT / "package-lock.json")) == []
    assert "omit-lockfile-registry-resolved=true" in (ROOT / ".npmrc").read_text(encoding="utf-8")


def test_an_address_in_a_lock_file_is_seen() -> None:
    lock = {"packages": {"a": {"resolved": "https://registry.example/a.tgz"}, "b": {"resolved": "vscode-client"}}}
    assert addresses(lock) == ["a"]


def test_every_package_of_the_lock_file_has_a_checksum() -> None:
    packages = read_json(ROOT / "package-lock.json")["packages"]
    installed = {name: entry for name, entry in packages.items() if name.startswith("node_modules/")}
    assert installed
    assert [name for name, entry in installed.items() if not entry.get("link") and not entry.get("integrity")] == []


def test_there_is_one_lock_file() -> None:
    assert not (CLIENT / "package-lock.json").exists()


def test_the_extension_has_the_version_of_the_package_that_it_carries() -> None:
    assert read_json(CLIENT / "package.json")["version"] == llm_lsp.__version__
