"""One migration per file, never changed once released."""
