"""What a run is: plain values and their hash; no files, no torch."""
