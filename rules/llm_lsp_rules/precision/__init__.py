"""Floating-point types and where they run."""
