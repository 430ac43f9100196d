"""Build the table of signatures that ships in the wheel from the wheels of the libraries that rules know.

    python scripts/build_signatures.py [LIBRARY...]            fetch the wheels, write llm_lsp/knowledge/signature_tables
    python scripts/build_signatures.py --check [LIBRARY...]    exit 1 where a committed table is not what the wheels give
    python scripts/build_signatures.py --list [LIBRARY...]     fetch nothing, print the committed tables

Nothing of a wheel is imported: its sources are parsed. `llm_lsp/knowledge/signatures.py` describes the lines.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import zlib
from pathlib import Path
from typing import NamedTuple

from scripts.signatures.callables import Callables, merged
from scripts.signatures.namespaces import Package

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache" / "wheels"
TABLES = ROOT / "llm_lsp" / "knowledge" / "signature_tables"


class Library(NamedTuple):
    """A distribution at the releases whose signatures we know, the newest first."""

    distribution: str
    root: str
    releases: tuple[str, ...]
    platform: tuple[str, ...] = ()
    """Of wheels that hold native code: the sources are the same in all, and these are the smallest."""
    without: tuple[str, ...] = ()
    """Beginnings of names that are left out."""
    methods: frozenset[str] | None = None
    """Those that are kept; None: all."""
    is_flat: bool = False
    """Whether what programs use is exported at the top level, and only that is kept."""


_MACOS = ("macosx_14_0_arm64", "macosx_11_0_arm64")
_WINDOWS = ("win_amd64",)
_WITHOUT_IN_TORCH = tuple(
    f"torch.{name}"
    for name in (
        "ao.", "classes", "contrib.", "distributed.algorithms.", "distributed.checkpoint.", "distributed.elastic.", "distributed.launcher",
        "distributed.nn.", "distributed.pipelining.", "distributed.rpc.", "distributed.tensor.", "distributions.", "export.", "functional.", "fx.", "jit.",
        "library.", "masked.", "monitor.", "mps.", "mtia.", "multiprocessing.", "nativert.", "nested.", "nn.backends.", "nn.intrinsic.", "nn.modules.",
        "nn.qat.", "nn.quantizable.", "nn.quantized.", "onnx.", "package.", "profiler.", "quantization.", "return_types.", "sparse.", "special.",
        "storage.", "utils.benchmark.", "utils.bottleneck.", "utils.cpp_extension.", "utils.data.datapipes.", "utils.flop_counter.", "utils.hipify.",
        "utils.jit.", "utils.model_dump.", "utils.serialization.", "utils.tensorboard.", "utils.viz.", "xpu.",
    )
)  # fmt: skip
_OF_DIFFUSERS = frozenset({"__init__", "__call__", "forward", "from_pretrained", "from_config", "to", "step"})
"""As far as it shares names with the others."""
LIBRARIES = (
    Library("torch", "torch", ("2.13.0", "2.6.0"), _MACOS, _WITHOUT_IN_TORCH),
    Library(
        "transformers",
        "transformers",
        ("5.24.0", "5.0.0", "4.57.6", "4.46.3"),
        without=("transformers.TF", "transformers.Flax"),
        is_flat=True,
    ),
    Library("accelerate", "accelerate", ("1.15.0", "1.0.1")),
    Library("peft", "peft", ("0.21.2", "0.13.2")),
    Library("trl", "trl", ("1.16.0", "0.12.2")),
    Library("datasets", "datasets", ("5.2.0", "3.1.0")),
    Library("lightning", "lightning", ("2.6.6", "2.4.0")),
    Library("sentence-transformers", "sentence_transformers", ("6.2.0", "3.3.1")),
    Library("bitsandbytes", "bitsandbytes", ("0.50.2", "0.44.1"), _WINDOWS),
    Library(
        "diffusers", "diffusers", ("0.42.1", "0.31.0"), without=("diffusers.Flax",), methods=_OF_DIFFUSERS, is_flat=True
    ),
    Library("fastapi", "fastapi", ("0.165.0", "0.110.0")),
)


class FetchError(Exception):
    """A wheel could not be fetched; the message is for the user."""


def wheel_of(library: Library, release: str, cache: Path = CACHE) -> Path:
    """The wheel of a release, fetched if it is not there.

    Raises:
        FetchError: pip could not download it.
    """
    cache.mkdir(parents=True, exist_ok=True)
    pattern = f"{library.distribution.replace('-', '_')}-{release}-*.whl"
    found = sorted(cache.glob(pattern))
    if not found:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        if library.platform:
            command += ["--python-version", "3.12", *(f"--platform={name}" for name in library.platform)]
        requirement = f"{library.distribution}=={release}"
        done = subprocess.run(
            [*command, "--dest", str(cache), requirement], capture_output=True, text=True, check=False
        )
        found = sorted(cache.glob(pattern))
        if done.returncode != 0 or not found:
            raise FetchError(f"pip could not download {requirement}:\n{done.stderr.strip()}")
    return found[0]


def table_of(library: Library, cache: Path = CACHE) -> str:
    """The text of one library's table."""
    packages = {release: Package(wheel_of(library, release, cache), library.root) for release in library.releases}
    releases = {
        release: Callables(package, library.without, library.methods, is_flat=library.is_flat).entries()
        for release, package in packages.items()
    }
    words = packages[library.releases[0]].words
    head = f"{library.distribution} {' '.join(library.releases)}"
    return "\n".join([head, *merged(releases, words)]) + "\n"


def committed(library: Library) -> str:
    """The text of the table that is there; empty where none is."""
    path = TABLES / f"{library.root}.z"
    return zlib.decompress(path.read_bytes()).decode() if path.is_file() else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY")
    options = parser.parse_args()
    stale = 0
    for library in LIBRARIES:
        if options.libraries and library.distribution not in options.libraries:
            continue
        if options.list:
            sys.stdout.write(committed(library))
            continue
        try:
            text = table_of(library)
        except FetchError as error:
            print(error, file=sys.stderr)
            return 1
        if committed(library) != text and options.check:
            print(
                f"the table of {library.distribution} is not current: run scripts/build_signatures.py", file=sys.stderr
            )
            stale = 1
        elif committed(library) != text:
            TABLES.mkdir(exist_ok=True)
            (TABLES / f"{library.root}.z").write_bytes(zlib.compress(text.encode(), 9))
    return stale


if __name__ == "__main__":
    sys.exit(main())
