"""The pages, served."""
