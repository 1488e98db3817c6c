"""One file per group: the benchmarks that share a training set."""
