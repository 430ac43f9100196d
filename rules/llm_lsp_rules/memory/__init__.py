"""Memory that is held for nothing."""
