"""The rules of the pack, as `scripts/index_rules.py` writes them."""

from __future__ import annotations

_MODULE = "demo_rules.words"

RULES = (
    ("DEM101", "loud-word", "words", "error", True, ("LOUD",), (), "unsafe", _MODULE, "LoudWord"),
    ("DEM102", "plain-word", "words", "warning", True, ("PLAIN",), (), "safe", _MODULE, "PlainWord"),
    ("DEM103", "small-word", "words", "information", True, ("SMALL",), (), "none", _MODULE, "SmallWord"),
    ("DEM104", "rude-word", "words", "warning", False, ("RUDE",), (), "none", _MODULE, "RudeWord"),
    ("DEM105", "word-that-fails", "words", "error", True, ("CRASH",), (), "none", _MODULE, "WordThatFails"),
)
