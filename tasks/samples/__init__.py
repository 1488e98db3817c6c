"""Word problems that this project generates, for use where no data folder is given."""
