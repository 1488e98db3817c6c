"""The machine under a run: its device, its stack, and what keeps runs repeatable on it."""
