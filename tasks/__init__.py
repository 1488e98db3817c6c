"""What methods are compared on: benchmarks, their data and their judges; works without torch."""
