"""Commands on one run: show it, read its items, run it again, publish its adapter."""
