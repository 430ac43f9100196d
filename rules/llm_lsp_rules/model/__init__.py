"""How modules are built."""
