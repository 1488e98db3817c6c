"""Reading the data files and checking that they are what they should be."""
