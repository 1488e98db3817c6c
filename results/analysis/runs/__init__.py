"""Facts of runs that rows are made from: what they are called, what they cost, which count."""
