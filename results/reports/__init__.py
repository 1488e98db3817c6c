"""From values to text; nothing here computes."""
