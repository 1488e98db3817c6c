"""The run folder: the only code that knows the names and keys of its files."""
