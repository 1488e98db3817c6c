"""Problems that this project generates, so that every group runs without published data."""
