"""What each command does: values and text in a report; nothing is printed here."""
