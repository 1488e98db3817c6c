"""A file is a check of a printed table."""
