"""Values to HTML: the one renderer, for a server and for files."""
