"""What the worker sets for all that runs in it, and by what it notices that other packages are installed now."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

__all__ = ["prepare", "stamp", "with_gpus"]

_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
_ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""A process that has computed with several threads can't be forked: the child waits for ever for threads that it lacks."""
_VARIABLES = {
    **dict.fromkeys(_OFFLINE, "1"),
    **dict.fromkeys(_ONE_THREAD, "1"),
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "WANDB_MODE": "disabled",
    "MPLBACKEND": "Agg",
    # Compiling takes longer than the run, and hides the lines of the program.
    "TORCHDYNAMO_DISABLE": "1",
}
_GPUS = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")

_SEEN = {name: os.environ[name] for name in _GPUS if name in os.environ}
"""As the user has set them."""


def with_gpus() -> dict[str, str]:
    """The environment variables of a process that may see the GPUs."""
    return {**{name: value for name, value in os.environ.items() if name not in _GPUS}, **_SEEN}


def prepare(*, cuda: bool) -> None:
    """Set the environment variables of this process; before torch is imported.

    Args:
        cuda: whether the program may see the GPUs.
    """
    os.environ.update(_VARIABLES)
    if not cuda:
        os.environ.update(dict.fromkeys(_GPUS, ""))


def stamp() -> object:
    """Another value when a distribution was installed, upgraded or removed, or the interpreter is another one."""
    found: list[tuple[str, int]] = []
    for folder in dict.fromkeys(sys.path):
        if os.path.basename(folder) not in ("site-packages", "dist-packages"):  # noqa: PTH119
            continue
        try:
            with os.scandir(folder) as entries:
                found += [
                    (entry.path, entry.stat().st_mtime_ns)
                    for entry in entries
                    if entry.name.endswith((".dist-info", ".egg-info", ".pth"))
                ]
        except OSError:
            continue
    with suppress(OSError):
        found.append((sys.executable, os.stat(sys.executable).st_mtime_ns))  # noqa: PTH116
    return tuple(sorted(found))
