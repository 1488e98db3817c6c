"""Whether tests and intervals keep what they promise, by simulation."""
