"""Requests of the protocol, each with its answer."""
