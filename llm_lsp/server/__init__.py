"""The language server: one file per method of the protocol; the only part that knows pygls and lsprotocol."""
