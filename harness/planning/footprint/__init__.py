"""What a run takes, worked out before it starts and without weights: parameters and memory."""
