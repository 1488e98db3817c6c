"""Whether the numbers of a printed table can be what they are said to be."""
