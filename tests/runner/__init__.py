"""The machinery of `tests/run`: what to run, what it needs, how its checks are counted."""
