"""Models behind a service."""
