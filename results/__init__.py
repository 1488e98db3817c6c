"""What came out of the runs, and what it means; works without torch."""
