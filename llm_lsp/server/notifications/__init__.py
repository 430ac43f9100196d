"""Notifications of the protocol."""
