"""What pages show and the API gives: frozen values."""
