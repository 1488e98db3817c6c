"""What is said of one run: on a screen, in full, as a card, item by item."""
