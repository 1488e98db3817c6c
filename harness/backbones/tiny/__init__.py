"""The embedded backbone: a small language model, with the script and the text that made it."""
