"""`harness new`: files that run as they are, to start from."""
