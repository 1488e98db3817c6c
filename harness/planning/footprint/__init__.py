"""How much memory and time a run needs, worked out before it starts and without weights."""
