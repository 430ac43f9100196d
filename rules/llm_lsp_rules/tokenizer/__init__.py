"""Tokenizers and what they feed."""
