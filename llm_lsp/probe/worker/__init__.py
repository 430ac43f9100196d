"""The worker: a program of its own, run by the user's interpreter.

It imports the standard library, torch, transformers and itself, by relative imports: as a program it is the package
`llm_lint_worker`, so that none of its names hides a module of the user's.
"""
