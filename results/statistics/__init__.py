"""Numbers in, numbers out: this folder knows neither runs nor methods."""
