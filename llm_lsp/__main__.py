"""`python -m llm_lsp` is `llm-lint`."""

from __future__ import annotations

import sys

from llm_lsp.cli import main

if __name__ == "__main__":
    sys.exit(main())
