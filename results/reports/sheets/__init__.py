"""A table as a reader sees it: what is shown, by which titles, how it is split, what is noted."""
