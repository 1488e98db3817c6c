"""What the native tuners share: how an adapter sits on a module. A paper's own part is its file."""
