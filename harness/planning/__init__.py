"""From the words of a request to planned runs; every fault is reported before any run."""
