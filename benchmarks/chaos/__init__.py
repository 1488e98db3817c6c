"""What a grid survives: `python -m benchmarks chaos FOLDER`, or `make chaos`."""
