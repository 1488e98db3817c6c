"""Methods by benchmarks."""
