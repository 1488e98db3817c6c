"""What a method does in training besides following its gradient."""
