"""What must hold for every method, on small random models of each architecture."""
