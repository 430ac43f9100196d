"""torch and transformers, imported before anything is to be run."""

from __future__ import annotations

import gc
import platform
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module, metadata

from .compiler import put_off_compiler

__all__ = ["heavy_modules", "learn", "load", "loaded_modules", "warm_up"]

_HEAVY = "transformers"


@contextmanager
def _kept() -> Generator[None]:
    """What is imported stays: nothing looks for garbage meanwhile, or ever in it, which copies what forks share."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def load(*, forks: bool) -> dict[str, object]:
    """Import torch, and say what there is: the event `ready`, or `no_torch`.

    Args:
        forks: whether runs will be forks of this process, as `ready` says.
    """
    try:
        with _kept():
            torch = import_module("torch")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            return _without_torch(f"torch can't be imported: {error}")
        return _without_torch("torch is not installed")
    except Exception as error:  # noqa: BLE001 (a broken installation fails in many ways)
        return _without_torch(f"torch can't be imported: {type(error).__name__}: {error}")
    put_off_compiler(torch)
    # A process that has computed with several can't be forked.
    torch.set_num_threads(1)
    ready: dict[str, object] = {
        "event": "ready",
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "fork": forks,
    }
    with suppress(metadata.PackageNotFoundError):
        ready["transformers"] = metadata.version("transformers")
    return ready


def _without_torch(message: str) -> dict[str, object]:
    return {"event": "no_torch", "python": sys.executable, "message": message}


def warm_up() -> None:
    """Do once what each run would do anew."""
    from .shape import warm_up as run_once

    # Without it each run takes longer, and says itself what is wrong.
    with _kept(), suppress(Exception):
        run_once()


def learn(modules: list[str]) -> None:
    """Import modules of transformers that a run has needed, so that the next one finds them loaded."""
    for name in modules:
        if name.partition(".")[0] == _HEAVY and name not in sys.modules:
            with _kept(), suppress(Exception):
                import_module(name)


def heavy_modules(file: object) -> list[str]:
    """What a program will need of transformers, by its text alone."""
    if not isinstance(file, str) or _HEAVY in sys.modules:
        return []
    try:
        with open(file, "rb") as source:  # noqa: PTH123
            return [_HEAVY] if _HEAVY.encode() in source.read(1_000_000) else []
    except OSError:
        return []


def loaded_modules() -> list[str]:
    """The modules of transformers that are loaded in this process and define models."""
    return [name for name in sys.modules if name.startswith(f"{_HEAVY}.models.") and ".modeling_" in name]
