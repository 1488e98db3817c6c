"""Which run is started, when and where."""
