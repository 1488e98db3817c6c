"""Two methods or two runs, side by side."""
