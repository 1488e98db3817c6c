"""Pages over the store: one renderer for a server and for static files."""
