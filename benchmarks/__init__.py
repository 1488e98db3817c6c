"""How fast the harness is; `make bench`."""
