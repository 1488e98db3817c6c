"""Finding the answer in a completion, and judging it."""
