"""One run in one process: load, adapt, train, generate, score. It never opens the store."""
