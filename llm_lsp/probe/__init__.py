"""The runtime probe: what only running a program can tell, found out in the user's own interpreter.

`worker/` is started by path with that interpreter and sees nothing else of llm-lint; the rest of this package talks to it.
"""
