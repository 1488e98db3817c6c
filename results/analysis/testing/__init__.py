"""Which tests are made of the runs of a column, and of what."""
