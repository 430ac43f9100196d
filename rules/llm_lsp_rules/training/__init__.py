"""Training loops that learn something else than they say."""
