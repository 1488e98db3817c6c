"""What only a machine with a GPU can tell; `make gpu`."""
